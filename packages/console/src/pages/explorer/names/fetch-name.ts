import type { Database } from '@chainstead/db';
import type { InnerApi, InnerAsker } from '@chainstead/http';
import { type NameQuestion, type NameService, readStoredName, type StoredName } from '@chainstead/names';
import { isRecord, textAt } from '../tables/cells.ts';
import { messageIn, within } from '../tables/read-table.ts';

export type NameFinding = { readonly question: NameQuestion; readonly target: string } & (
  | { readonly kind: 'found'; readonly answer: string; readonly reading: StoredName | null }
  /** There is none, or it was rejected, or is unknown so far: the API's message. */
  | { readonly kind: 'reported'; readonly status: number; readonly message: string }
  | { readonly kind: 'late' }
);

export interface NameSources {
  readonly data: InnerApi;
  /** Not a standby, which may lack data that was just read. */
  readonly database: Database;
  readonly asker: InnerAsker;
}

export async function fetchName(
  { data, database, asker }: NameSources,
  question: NameQuestion,
  timeMs: number,
): Promise<NameFinding> {
  const target = targetOf(question);
  const requested = { question, target };
  const given = await within(timeMs, data.get(target, asker), null);
  if (given === null) return { ...requested, kind: 'late' };
  const { status, body } = given;
  const answer = isRecord(body) ? textAt(body, question.wanted) : null;
  if (status !== 200 || answer === null)
    return { ...requested, kind: 'reported', status, message: messageIn(body) ?? `The API returned HTTP ${status}` };
  return { ...requested, kind: 'found', answer, reading: await readStoredName(database, question) };
}

function targetOf({ service, wanted, subject }: NameQuestion): string {
  const given = encodeURIComponent(subject);
  const below = {
    ens: { address: `ens/${given}`, name: `${given}/reverse` },
    unstoppable: { address: given, name: `${given}/domain` },
  }[service][wanted];
  return `/api/v2.2/resolve/${below}`;
}

export function servicesOfName(name: string): readonly NameService[] {
  return name.endsWith('.eth') ? ['ens'] : ['ens', 'unstoppable'];
}
