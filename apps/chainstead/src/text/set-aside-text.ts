import type { SetAsideWork } from '@chainstead/db';

export function renderSetAside(work: readonly SetAsideWork[]): string[] {
  if (work.length === 0) return [];
  const lines = work.map(
    ({ name, crashes, crashedAt, reason }) =>
      `    ${name}: ${reason ?? `ended the process ${crashes} times, last at ${crashedAt.toISOString()}`}`,
  );
  return [`${['quarantined', ...lines].join('\n')}\n`];
}

export function setAsideJson(work: readonly SetAsideWork[]): readonly Readonly<Record<string, unknown>>[] {
  return work.map(({ name, crashes, crashedAt, reason }) => ({
    ...{ work: name, crashes, crashed_at: crashedAt.toISOString() },
    ...(reason !== null && { reason }),
  }));
}
