import { type Database, hexText, rawSql, type Sql, sql } from '@chainstead/db';

/** The metadata state of a chain's collections and tokens. */
export interface MetadataStatus {
  readonly chainId: number;
  readonly collections: MetadataCounts;
  readonly tokens: MetadataCounts;
  /** Failing collections, most attempts first, up to a limit. The counts include all of them. */
  readonly failing: readonly {
    readonly address: string;
    readonly attempts: number;
    /** When it is retried; null if nothing is scheduled. */
    readonly dueAt: Date | null;
    readonly error: { readonly code: string; readonly message: string };
  }[];
}

export interface MetadataCounts {
  /** Read at least once. */
  readonly known: number;
  /** Due to be read, for the first time or again. */
  readonly waiting: number;
  /** The last attempt failed. Earlier metadata is still served. */
  readonly failing: number;
}

/** Returns the chains with requested metadata. @param failingMax collections listed by chain */
export async function readMetadataStatuses(database: Database, failingMax: number): Promise<MetadataStatus[]> {
  const [collections, tokens, failing] = await Promise.all([
    database.query<CountsRow>(countsOf('nft_collections', `status NOT IN ('not-nft', 'not-contract')`)),
    database.query<CountsRow>(countsOf('nft_token_metadata', 'true')),
    database.query<FailingRow>(
      sql`SELECT * FROM (
         SELECT chain_id, ${hexText('token_address')} AS address, attempts, due_at, error_code, error_message,
           row_number() OVER (PARTITION BY chain_id ORDER BY attempts DESC, token_address) AS place
         FROM nft_collections WHERE error_code IS NOT NULL) AS failing
       WHERE place <= ${failingMax} ORDER BY chain_id, place`,
    ),
  ]);
  const chainIds = [...new Set([...collections, ...tokens].map(({ chain_id }) => chain_id))].toSorted((a, b) => a - b);
  return chainIds.map((chainId) => ({
    chainId,
    collections: countsFrom(collections, chainId),
    tokens: countsFrom(tokens, chainId),
    failing: failing
      .filter(({ chain_id }) => chain_id === chainId)
      .map((row) => ({
        address: row.address,
        attempts: row.attempts,
        dueAt: row.due_at,
        error: { code: row.error_code, message: row.error_message ?? '' },
      })),
  }));
}

interface CountsRow extends MetadataCounts {
  readonly chain_id: number;
}

interface FailingRow {
  readonly chain_id: number;
  readonly address: string;
  readonly attempts: number;
  readonly due_at: Date | null;
  readonly error_code: string;
  readonly error_message: string | null;
}

function countsOf(table: string, condition: string): Sql {
  return sql`SELECT chain_id, count(*) FILTER (WHERE synced_at IS NOT NULL)::int AS known,
      count(*) FILTER (WHERE status = 'pending' OR due_at <= now())::int AS waiting,
      count(*) FILTER (WHERE error_code IS NOT NULL)::int AS failing
    FROM ${rawSql(table)} WHERE ${rawSql(condition)} GROUP BY chain_id`;
}

function countsFrom(rows: readonly CountsRow[], chainId: number): MetadataCounts {
  const row = rows.find(({ chain_id }) => chain_id === chainId);
  return { known: row?.known ?? 0, waiting: row?.waiting ?? 0, failing: row?.failing ?? 0 };
}
