import type { Database } from '@chainstead/db';
import type { InnerApi, InnerAsker } from '@chainstead/http';
import { type NameQuestion, readStoredName, type StoredName } from '@chainstead/names';
import { isRecord, textAt } from '../tables/cells.ts';
import { messageIn } from '../tables/read-table.ts';
import { within } from '../within.ts';

/** What the data API says of a name, or of an address' name. */
export type NameFinding = { readonly question: NameQuestion /** Path of the API. */; readonly target: string } & (
  | { readonly kind: 'found'; readonly answer: string; readonly reading: StoredName | null }
  /** There is none, or it was refused, or is not known yet: in the API's words. */
  | { readonly kind: 'told'; readonly status: number; readonly message: string }
  /** Not there in time. */
  | { readonly kind: 'late' }
);

export interface NameSources {
  readonly data: InnerApi;
  /** Not a standby: what was just read has to be there. */
  readonly database: Database;
  readonly asker: InnerAsker;
}

/** Asks as a client would, and how old the reading is that the answer comes from. @param timeMs how long a page waits. Milliseconds */
export async function askName(
  { data, database, asker }: NameSources,
  question: NameQuestion,
  timeMs: number,
): Promise<NameFinding> {
  const target = targetOf(question);
  const asked = { question, target };
  const given = await within(timeMs, data.get(target, asker), null);
  if (given === null) return { ...asked, kind: 'late' };
  const { status, body } = given;
  const answer = isRecord(body) ? textAt(body, question.wanted) : null;
  if (status !== 200 || answer === null)
    return { ...asked, kind: 'told', status, message: messageIn(body) ?? `The API answered ${status}` };
  return { ...asked, kind: 'found', answer, reading: await readStoredName(database, question) };
}

function targetOf({ service, wanted, subject }: NameQuestion): string {
  const given = encodeURIComponent(subject);
  const below = {
    ens: { address: `ens/${given}`, name: `${given}/reverse` },
    unstoppable: { address: given, name: `${given}/domain` },
  }[service][wanted];
  return `/api/v2.2/resolve/${below}`;
}
