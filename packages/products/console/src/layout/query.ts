import { InvalidParameterError } from '@chainstead/http';

/** Null: absent or empty. @throws InvalidParameterError */
export function readChoice<Choice extends string | number>(
  parameter: string,
  text: string | undefined,
  choices: readonly Choice[],
): Choice | null {
  if (text === undefined || text === '') return null;
  const choice = choices.find((allowed) => String(allowed) === text);
  if (choice !== undefined) return choice;
  throw new InvalidParameterError({ parameter, given: text, allowed: choices.join(', ') });
}

export function writeQuery(members: Readonly<Record<string, string | null | undefined>>): string {
  const entries = Object.entries(members).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}
