export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An operation of the hosted API that is not served yet. */
export interface UnservedOperation {
  readonly method: Method;
  /** With parameters in braces. */
  readonly path: string;
  /** The hosted API's name, which its SDK uses too. */
  readonly name: string;
  readonly group: string;
}

/** Returns the operations of a group: method, path below `base`, name. */
export function unserved(
  base: string,
  group: string,
  operations: readonly (readonly [method: Method, path: string, name: string])[],
): readonly UnservedOperation[] {
  return operations.map(([method, path, name]) => ({ method, path: base + path, name, group }));
}
