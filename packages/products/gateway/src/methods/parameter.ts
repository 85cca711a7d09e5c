/** A sentence with the parameter's name; null if valid. */
export type Check = (value: unknown) => string | null;

export interface MethodParameter {
  readonly check: Check;
  readonly isOptional?: boolean;
  /** Default for nodes that require a value. */
  readonly fill?: unknown;
  readonly name: string;
}

const GIVEN_LENGTH_MAX = 80;

export function mustBe(name: string, rule: string, given: unknown): string {
  return `${name} must be ${rule}, ${shown(given)} was given`;
}

export function shown(given: unknown): string {
  // Only flat values: nesting may be as deep as the body is long.
  if (typeof given === 'object' && given !== null) return Array.isArray(given) ? 'an array' : 'an object';
  const text = JSON.stringify(given) ?? 'nothing';
  return text.length > GIVEN_LENGTH_MAX ? `${text.slice(0, GIVEN_LENGTH_MAX)}…"` : text;
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
