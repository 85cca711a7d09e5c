import type { SetAsideWork } from '@chainstead/db';

/** For a person: one text, or none where nothing is set aside. */
export function renderSetAside(work: readonly SetAsideWork[]): string[] {
  if (work.length === 0) return [];
  const lines = work.map(
    ({ name, crashes, crashedAt }) =>
      `    ${name}: ended the process ${crashes} times, last at ${crashedAt.toISOString()}`,
  );
  return [`${['set aside', ...lines].join('\n')}\n`];
}

/** For a program. */
export function setAsideJson(work: readonly SetAsideWork[]): readonly Readonly<Record<string, unknown>>[] {
  return work.map(({ name, crashes, crashedAt }) => ({ work: name, crashes, crashed_at: crashedAt.toISOString() }));
}
