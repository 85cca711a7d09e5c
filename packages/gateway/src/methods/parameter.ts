/** Says what is wrong with a value, as a sentence that names the parameter; null: nothing. */
export type Check = (value: unknown) => string | null;

/** One place of a method's parameters. */
export interface Parameter {
  readonly check: Check;
  /** May be left out, or be null. */
  readonly isOptional?: boolean;
  /** Taken where it is left out, because some nodes insist on it. What is left out without one stays so. */
  readonly fill?: unknown;
  readonly name: string;
}

const GIVEN_LENGTH_MAX = 80;

/** `name must be rule, "given" was given` */
export function mustBe(name: string, rule: string, given: unknown): string {
  return `${name} must be ${rule}, ${shown(given)} was given`;
}

/** A value of the client as it may be repeated: as JSON, shortened. */
export function shown(given: unknown): string {
  // Only what is flat: a value may be nested as deep as the body is long.
  if (typeof given === 'object' && given !== null) return Array.isArray(given) ? 'an array' : 'an object';
  const text = JSON.stringify(given) ?? 'nothing';
  return text.length > GIVEN_LENGTH_MAX ? `${text.slice(0, GIVEN_LENGTH_MAX)}…"` : text;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
