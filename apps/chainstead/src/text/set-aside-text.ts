import type { SetAsideWork } from '@chainstead/db';

/** Renders quarantined work as one text, or none. */
export function renderSetAside(work: readonly SetAsideWork[]): string[] {
  if (work.length === 0) return [];
  const lines = work.map(
    ({ name, crashes, crashedAt, reason }) =>
      `    ${name}: ${reason ?? `ended the process ${crashes} times, last at ${crashedAt.toISOString()}`}`,
  );
  return [`${['quarantined', ...lines].join('\n')}\n`];
}

/** Renders quarantined work as JSON. */
export function setAsideJson(work: readonly SetAsideWork[]): readonly Readonly<Record<string, unknown>>[] {
  return work.map(({ name, crashes, crashedAt, reason }) => ({
    ...{ work: name, crashes, crashed_at: crashedAt.toISOString() },
    ...(reason !== null && { reason }),
  }));
}
