import type { Chain } from '@chainstead/chains';
import { type Database, hexText, joinSql, rawSql, sql } from '@chainstead/db';
import type { DocumentExamples } from '@chainstead/http';
import type { DatasetManifest } from './dataset-manifest.ts';

type ExampleFallback = Readonly<Record<'account' | 'chain', string>>;

export async function readManifestExamples(
  database: Database,
  chains: readonly Chain[],
  manifests: readonly DatasetManifest[],
  fallback: ExampleFallback | null,
): Promise<DocumentExamples> {
  const examples = await Promise.all(manifests.map((manifest) => examplesOf(database, chains, manifest, fallback)));
  return Object.assign({}, ...examples);
}

async function examplesOf(
  database: Database,
  chains: readonly Chain[],
  { table, endpoints }: DatasetManifest,
  fallback: ExampleFallback | null,
): Promise<DocumentExamples> {
  const columns = [...new Set(endpoints.flatMap(({ example }) => Object.values(example)))];
  const texts = columns.map((name) => {
    const isBytes = table.types.get(name)?.type === 'bytea';
    return sql`${name}::text, ${isBytes ? hexText(name) : sql`${rawSql(name)}::text`}`;
  });
  const [row] = await database.query<{ chain_id: number; columns: Readonly<Record<string, string>> }>(
    sql`SELECT chain_id, jsonb_build_object(${joinSql(texts)}) AS columns FROM (SELECT * FROM ${rawSql(table.name)} LIMIT ${rawSql(SAMPLE_ROWS)}) AS sample
      WHERE chain_id = ANY (${chains.map(({ id }) => id)}::bigint[]) LIMIT 1`,
  );
  const chain = chains.find(({ id }) => id === row?.chain_id);
  const found = row === undefined || chain === undefined ? fallback : { ...row.columns, chain: chain.key };
  if (found === null) return {};
  const values = new Map<string, string>(Object.entries(found));
  return Object.fromEntries(
    endpoints.map(({ operationId, example }) => {
      const given = Object.entries(example).flatMap(([parameter, column]) => {
        const value = values.get(column);
        return value === undefined ? [] : [[parameter, value]];
      });
      return [operationId, { ...Object.fromEntries(given), chain: found.chain }];
    }),
  );
}

const SAMPLE_ROWS = 1_000;
