/** What was read of a host node out of an archive; a field that could not be told is absent. */
export interface ReadHostNode {
  name: string;
  category?: string;
  description?: string;
  function?: string;
  deprecated?: boolean;
  experimental?: boolean;
  /** JSON texts, as the host answers them. */
  inputTypes?: string;
  returnTypes?: string;
  returnNames?: string;
  outputIsList?: boolean[];
}
