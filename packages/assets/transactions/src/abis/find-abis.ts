import type { Chain } from '@chainstead/chains';
import { hexBytes, type ReadDatabase, rawSql, type Sql, sql } from '@chainstead/db';

export interface RequestedEntry {
  /** Called contract or emitter. Lower case. */
  readonly address: string;
  /** First four bytes of the call's input, or of the event's topic0. */
  readonly selector: string;
  readonly block: number;
}

export interface FoundAbis {
  readonly signatures: readonly (readonly [selector: string, signature: string])[];
  readonly own: readonly (readonly [address: string, entry: string])[];
  readonly pointedTo: readonly (readonly [place: string, entry: string])[];
  /** By another contract with the same code, on any chain; empty if the own ABI matches. */
  readonly sameCode: readonly (readonly [address: string, entry: string])[];
  /** No match in the own ABI, no recently read implementation. Empty until an ABI is imported. */
  readonly unknown: readonly RequestedEntry[];
}

export const SIGNATURES_MAX = 64;

export async function findStoredAbis(
  reads: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  entries: readonly RequestedEntry[],
): Promise<FoundAbis> {
  const requested = [
    ...new Map(entries.map((entry) => [`${entry.address} ${entry.selector} ${entry.block}`, entry])).values(),
  ];
  type Texts = readonly (readonly [position: number, text: string])[] | null;
  const [row] = await reads.select<{
    signatures: FoundAbis['signatures'] | null;
    own: Texts;
    pointedTo: Texts;
    sameCode: Texts;
    unknown: readonly number[] | null;
  }>(findStatement(chain, requested));
  const at = (position: number): RequestedEntry[] => requested.slice(position - 1, position);
  const byAddress = (texts: Texts): FoundAbis['own'] => {
    const rows = (texts ?? []).flatMap(([position, text]) =>
      at(position).map(({ address }) => [address, text] as const),
    );
    return [...new Map(rows.map((each) => [each.join(' '), each])).values()];
  };
  return {
    signatures: row?.signatures ?? [],
    own: byAddress(row?.own ?? null),
    sameCode: byAddress(row?.sameCode ?? null),
    pointedTo: (row?.pointedTo ?? []).flatMap(([position, text]) =>
      at(position).map(({ address, block }) => [`${address} ${block}`, text] as const),
    ),
    unknown: (row?.unknown ?? []).flatMap(at),
  };
}

/** Read daily: an announcement may be in a block that was not followed. Clones never change. */
const IS_STALE = sql`(found.known_by = 'unread' OR found.until_block IS NULL) AND found.known_by <> 'eip-1167' AND found.read_at < now() -
  CASE WHEN found.known_by = 'unread' AND found.until_block IS NULL THEN interval '1 minute' ELSE interval '1 day' END`;

function findStatement({ id }: Pick<Chain, 'id'>, requested: readonly RequestedEntry[]): Sql {
  const addresses = requested.map(({ address }) => hexBytes(address));
  const selectors = requested.map(({ selector }) => hexBytes(selector));
  const blocks = requested.map(({ block }) => block);
  const distinctSelectors = [...new Set(requested.map(({ selector }) => selector))].map(hexBytes);
  return sql`WITH requested AS (
    SELECT * FROM unnest(${addresses}::bytea[], ${selectors}::bytea[], ${blocks}::bigint[]) WITH ORDINALITY AS given (address, selector, block_number, place)),
  found AS (
    SELECT requested.place, requested.address, requested.selector, pointed.*,
      EXISTS (SELECT FROM contract_abi_entries AS entry
              WHERE entry.address = requested.address AND entry.chain_id = ${id} AND entry.selector = requested.selector) AS is_known
    FROM requested LEFT JOIN LATERAL (
      SELECT known.implementation, known.known_by, known.until_block, known.read_at, known.selector = ''::bytea AS is_whole
      FROM contract_implementations AS known
      WHERE known.proxy = requested.address AND known.chain_id = ${id} AND known.selector IN (''::bytea, requested.selector)
        AND known.from_block <= requested.block_number AND (known.until_block IS NULL OR known.until_block >= requested.block_number)
      ORDER BY known.selector DESC, known.from_block DESC LIMIT 1) AS pointed ON true)
  SELECT
    (SELECT json_agg(ARRAY[encode(listed.selector, 'hex'), listed.signature]) FROM (
       SELECT requested.selector, known.signature FROM unnest(${distinctSelectors}::bytea[]) AS requested (selector),
         LATERAL (SELECT DISTINCT own.signature FROM imported_signatures AS own
                  WHERE own.selector = requested.selector LIMIT ${rawSql(SIGNATURES_MAX + 1)}) AS known) AS listed) AS signatures,
    (SELECT json_agg(json_build_array(requested.place, entry.entry::text) ORDER BY entry.place)
       FROM requested JOIN contract_abi_entries AS entry
         ON entry.address = requested.address AND entry.chain_id = ${id} AND entry.selector = requested.selector) AS own,
    (SELECT json_agg(json_build_array(found.place, entry.entry::text) ORDER BY entry.place)
       FROM found JOIN contract_abi_entries AS entry
         ON entry.address = found.implementation AND entry.chain_id = ${id} AND entry.selector = found.selector) AS "pointedTo",
    (SELECT json_agg(json_build_array(found.place, entry.entry::text) ORDER BY entry.place)
       FROM found JOIN contract_codes AS code ON code.address = found.address AND code.chain_id = ${id}
       CROSS JOIN LATERAL (
         SELECT other.address, other.chain_id FROM contract_codes AS other
         WHERE other.has_abi AND other.code_hash = code.code_hash AND EXISTS (
           SELECT FROM contract_abi_entries AS known
           WHERE known.address = other.address AND known.chain_id = other.chain_id AND known.selector = found.selector)
         ORDER BY other.chain_id <> ${id}, other.chain_id, other.address LIMIT 1) AS twin
       JOIN contract_abi_entries AS entry
         ON entry.address = twin.address AND entry.chain_id = twin.chain_id AND entry.selector = found.selector
       WHERE NOT found.is_known) AS "sameCode",
    (SELECT json_agg(found.place) FROM found
       WHERE NOT found.is_known AND EXISTS (SELECT FROM contract_abi_entries)
         AND (found.known_by IS NULL OR found.known_by = 'eip-2535' AND found.is_whole OR ${IS_STALE})) AS unknown`;
}
