/** A part of the OpenAPI document, without references. */
export interface Schema {
  type?: string | string[];
  description?: string;
  enum?: (string | null)[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}
