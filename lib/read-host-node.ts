/** A host node as read from an archive. Fields that could not be determined are absent. */
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
