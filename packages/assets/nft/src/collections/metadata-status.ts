import { type Database, hexText, rawSql, type Sql, sql } from '@chainstead/db';

export interface MetadataStatus {
  readonly chainId: number;
  readonly collections: MetadataCounts;
  readonly tokens: MetadataCounts;
  readonly failing: readonly {
    readonly address: string;
    readonly attempts: number;
    readonly dueAt: Date | null;
    readonly error: { readonly code: string; readonly message: string };
  }[];
}

export interface MetadataCounts {
  readonly known: number;
  readonly waiting: number;
  readonly failing: number;
}

export async function readMetadataStatuses(database: Database, failingMax: number): Promise<MetadataStatus[]> {
  const [collections, tokens, failing] = await Promise.all([
    database.query<CountsOfChain>(countsOf('nft_collections', `status NOT IN ('not-nft', 'not-contract')`)),
    database.query<CountsOfChain>(countsOf('nft_token_metadata', 'true')),
    database.query<MetadataStatus['failing'][number] & { readonly chainId: number }>(
      sql`SELECT chain_id, address, attempts, due_at, error FROM (
         SELECT chain_id, ${hexText('token_address')} AS address, attempts, due_at,
           json_build_object('code', error_code, 'message', coalesce(error_message, '')) AS error,
           row_number() OVER (PARTITION BY chain_id ORDER BY attempts DESC, token_address) AS place
         FROM nft_collections WHERE error_code IS NOT NULL) AS failing
       WHERE place <= ${failingMax} ORDER BY chain_id, place`,
    ),
  ]);
  const chainIds = [...new Set([...collections, ...tokens].map(({ chainId }) => chainId))].toSorted(
    (a, b) => a - b,
  );
  return chainIds.map((chainId) => ({
    chainId,
    collections: countsFrom(collections, chainId),
    tokens: countsFrom(tokens, chainId),
    failing: failing.filter((row) => row.chainId === chainId).map(({ chainId: _, ...collection }) => collection),
  }));
}

type CountsOfChain = MetadataCounts & { readonly chainId: number };

function countsOf(table: string, condition: string): Sql {
  return sql`SELECT chain_id, count(*) FILTER (WHERE synced_at IS NOT NULL)::int AS known,
      count(*) FILTER (WHERE status = 'pending' OR due_at <= now())::int AS waiting,
      count(*) FILTER (WHERE error_code IS NOT NULL)::int AS failing
    FROM ${rawSql(table)} WHERE ${rawSql(condition)} GROUP BY chain_id`;
}

function countsFrom(rows: readonly CountsOfChain[], chainId: number): MetadataCounts {
  const row = rows.find((counts) => counts.chainId === chainId);
  return { known: row?.known ?? 0, waiting: row?.waiting ?? 0, failing: row?.failing ?? 0 };
}
