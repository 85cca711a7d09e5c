/**
 * Fetches what a look-up finds on a cluster. Citus hands a statement to a node as it is, subqueries and all, where everything that it reads of
 * distributed tables lies in one shard, which it must be able to tell from values in the statement. So what is wanted is divided by shards, and each
 * statement asks one shard for many.
 */
import { isDistributed, type Transaction } from '@chainstead/db';
import { columnsOf, findAt, type LookUp, type LookUpPlace } from './look-up.ts';
import { emptyTemporary } from './temporary-table.ts';

/** What one statement asks for at most: so much that planning it doesn't count, and no more than a statement's text can well hold. */
const ASKED_MAX = 5_000;

/** Fills the temporary table of that name with answers, beside what each was asked by as `by_…`. */
export async function fetchFound<By extends string>(
  transaction: Transaction,
  name: string,
  lookUp: LookUp<By>,
): Promise<void> {
  const { by, found, wanted, place, findAll } = lookUp;
  const askedBy = Object.entries<string>(by).map(([column, type]) => ({ name: `by_${column}`, type }));
  const columns = [...askedBy, ...Object.entries(found).map(([column, type]) => ({ name: column, type }))];
  await emptyTemporary(
    transaction,
    name,
    columns.map((column) => `${column.name} ${column.type}`).join(', '),
    askedBy.map((column) => column.name),
  );
  const insert = (query: string) => transaction.query(`INSERT INTO ${name} ${query}`);
  if (findAll !== undefined) {
    await transaction.query(
      `WITH asked AS MATERIALIZED (SELECT DISTINCT ${namesOf(by)} FROM (${wanted}) AS every)
       INSERT INTO ${name} SELECT ${namesOf(by)}, ${namesOf(found)} FROM (${findAll('asked')}) AS answer`,
    );
    return;
  }
  if (place === undefined) {
    for (const { key } of await readAsked(transaction, lookUp, null)) await insert(findOne(lookUp, key));
    return;
  }
  const isInShards = await isDistributed(transaction, place.table);
  const asked = await readAsked(transaction, lookUp, isInShards ? place : null);
  for (const inShard of Map.groupBy(asked, ({ shard }) => shard).values())
    for (let from = 0; from < inShard.length; from += ASKED_MAX)
      await insert(findMany(lookUp, inShard.slice(from, from + ASKED_MAX), isInShards ? place : null));
}

/** What a look-up is asked by, as text. */
interface Asked {
  readonly key: Readonly<Record<string, string | null>>;
  /** The shard that has the rows of the answer, and what they have there in the column that it is told from; null: wherever they lie. */
  readonly shard: string | null;
  readonly lies_at: string | null;
}

/** @param place null where nothing lies in shards */
async function readAsked<By extends string>(
  transaction: Transaction,
  { by, wanted }: LookUp<By>,
  place: LookUpPlace<By> | null,
): Promise<readonly Asked[]> {
  const at = columnsOf('asked', { by });
  const key = place?.key(at);
  const rows = await transaction.query<{ key: (string | null)[]; shard: string | null; lies_at: string | null }>(
    `SELECT ARRAY[${Object.values<string>(at)
      .map((column) => `${column}::text`)
      .join(', ')}] AS key,
       ${place === null ? 'NULL' : `get_shard_id_for_distribution_column('${place.table}', ${key})::text`} AS shard,
       ${place === null ? 'NULL' : `(${key})::text`} AS lies_at
     FROM (SELECT DISTINCT ${namesOf(by)} FROM (${wanted}) AS every) AS asked`,
  );
  const names = Object.keys(by);
  return rows.map(({ key: values, ...where }) => ({
    ...where,
    key: Object.fromEntries(names.map((name, index) => [name, values[index] ?? null])),
  }));
}

/** With values instead of columns it stops at the first row of any node, where it wants no more. */
function findOne<By extends string>(lookUp: LookUp<By>, key: Asked['key']): string {
  const at = Object.fromEntries(
    Object.entries<string>(lookUp.by).map(([column, type]) => [column, `${quotedText(key[column])}::${type}`]),
  ) as Record<By, string>;
  return `SELECT ${Object.values(at).join(', ')}, answer.* FROM (${findAt(lookUp, at)}) AS answer`;
}

/** @param place null where nothing lies in shards; else all that is asked lies in one */
function findMany<By extends string>(
  lookUp: LookUp<By>,
  asked: readonly Asked[],
  place: LookUpPlace<By> | null,
): string {
  const { by } = lookUp;
  const at = columnsOf('asked', lookUp);
  const values = Object.entries<string>(by).map(([column, type]) =>
    arrayOf(
      asked.map(({ key }) => key[column] ?? null),
      type,
    ),
  );
  return `SELECT asked.*, answer.* FROM unnest(${values.join(', ')}) AS asked(${namesOf(by)})
    CROSS JOIN LATERAL (${place === null ? findAt(lookUp, at) : lookUp.find(at, (column) => `${column} = ${place.key(at)} AND ${liesIn(column, asked, place)}`)}) AS answer`;
}

/**
 * The condition that names the shard, of one value or of several. A list alone would be taken for a condition of the index, and each probe would try all of
 * its values; beside another condition it is a filter, by hash.
 */
function liesIn<By extends string>(column: string, asked: readonly Asked[], { type }: LookUpPlace<By>): string {
  const [first = null, ...others] = new Set(asked.map(({ lies_at }) => lies_at));
  const isFirst = `${column} = ${quotedText(first)}::${type}`;
  return others.length === 0 ? isFirst : `(${isFirst} OR ${column} = ANY(${arrayOf(others, type)}))`;
}

function namesOf(columns: Readonly<Record<string, string>>): string {
  return Object.keys(columns).join(', ');
}

function arrayOf(values: readonly (string | null)[], type: string): string {
  const elements = values.map((value) => (value === null ? 'NULL' : `"${value.replaceAll(/["\\]/g, '\\$&')}"`));
  return `${quotedText(`{${elements.join(',')}}`)}::${type}[]`;
}

function quotedText(value: string | null | undefined): string {
  return value === null || value === undefined ? 'NULL' : `'${value.replaceAll("'", "''")}'`;
}
