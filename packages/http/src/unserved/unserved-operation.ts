export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An operation of the hosted provider that is not served yet. */
export interface UnservedOperation {
  readonly method: Method;
  /** With parameters in braces. */
  readonly path: string;
  /** The provider's name of it, which its SDK uses too. */
  readonly name: string;
  readonly group: string;
}

/** The operations of a group: method, path below `base`, name. */
export function unserved(
  base: string,
  group: string,
  operations: readonly (readonly [method: Method, path: string, name: string])[],
): readonly UnservedOperation[] {
  return operations.map(([method, path, name]) => ({ method, path: base + path, name, group }));
}
