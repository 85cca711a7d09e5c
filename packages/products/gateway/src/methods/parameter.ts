/** Returns the error of a value, as a sentence with the parameter's name; null if it is valid. */
export type Check = (value: unknown) => string | null;

export interface MethodParameter {
  readonly check: Check;
  readonly isOptional?: boolean;
  /** Default for an absent value, for nodes that require one. Without a default the value stays absent. */
  readonly fill?: unknown;
  readonly name: string;
}

const GIVEN_LENGTH_MAX = 80;

/** `name must be rule, "given" was given` */
export function mustBe(name: string, rule: string, given: unknown): string {
  return `${name} must be ${rule}, ${shown(given)} was given`;
}

/** Returns a client's value for an error text: JSON, shortened. */
export function shown(given: unknown): string {
  // Only flat values: nesting may be as deep as the body is long.
  if (typeof given === 'object' && given !== null) return Array.isArray(given) ? 'an array' : 'an object';
  const text = JSON.stringify(given) ?? 'nothing';
  return text.length > GIVEN_LENGTH_MAX ? `${text.slice(0, GIVEN_LENGTH_MAX)}…"` : text;
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
