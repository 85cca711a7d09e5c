import type { ParameterProblem } from '@chainstead/http';

/** A nested value, which may be deep, is described by its kind alone. */
export function problemWith(parameter: string, given: unknown, allowed: string): ParameterProblem {
  if (given === undefined) return { parameter, allowed };
  const isNested = typeof given === 'object' && given !== null;
  return { parameter, allowed, given: isNested ? (Array.isArray(given) ? 'a list' : 'an object') : given };
}
