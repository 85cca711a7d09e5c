import type { Chain } from '@chainstead/chains';
import { hexBytes, type ReadDatabase } from '@chainstead/db';

/** A call or an event of a page. */
export interface AskedEntry {
  /** That was called, or that emitted the event. Lower case. */
  readonly address: string;
  /** First four bytes of the call's input, or of the event's topic0. */
  readonly selector: string;
  readonly block: number;
}

/** What is known of a page's calls and events; entries as JSON, in the order of their ABIs. */
export interface FoundAbis {
  /** Selectors as hexadecimal digits. */
  readonly signatures: readonly (readonly [selector: string, signature: string])[];
  /** Of the contract itself, by its address. */
  readonly own: readonly (readonly [address: string, entry: string])[];
  /** Of what it pointed to in that block, by address and block. */
  readonly pointedTo: readonly (readonly [place: string, entry: string])[];
  /** Of another contract with the same code, on whichever chain, by address and selector; where the contract's own ABI knows it, none. */
  readonly sameCode: readonly (readonly [address: string, entry: string])[];
  /** What no ABI of the contract itself knows, and nobody has read, or not of late, whose code it acts by. None as long as no ABI is imported. */
  readonly unknown: readonly AskedEntry[];
}

/** Signatures of one selector that are looked at. With more of them, several fit. */
export const SIGNATURES_MAX = 64;

/** Each look-up is a range of a primary key. */
export async function lookUpAbis(
  reads: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  given: readonly AskedEntry[],
): Promise<FoundAbis> {
  const asked = [...new Map(given.map((each) => [`${each.address} ${each.selector} ${each.block}`, each])).values()];
  const [row] = await reads.select<FoundRow>(FIND, [
    asked.map(({ address }) => hexBytes(address)),
    asked.map(({ selector }) => hexBytes(selector)),
    asked.map(({ block }) => block),
    chain.id,
    [...new Set(asked.map(({ selector }) => selector))].map(hexBytes),
  ]);
  const at = (place: number): AskedEntry[] => asked.slice(place - 1, place);
  const byAddress = (found: FoundRow['own']): FoundAbis['own'] => {
    const placed = (found ?? []).flatMap(([place, text]) => at(place).map(({ address }) => [address, text] as const));
    return [...new Map(placed.map((each) => [each.join(' '), each])).values()];
  };
  return {
    signatures: row?.signatures ?? [],
    own: byAddress(row?.own ?? null),
    sameCode: byAddress(row?.sameCode ?? null),
    pointedTo: (row?.pointedTo ?? []).flatMap(([place, text]) =>
      at(place).map(({ address, block }) => [`${address} ${block}`, text] as const),
    ),
    unknown: (row?.unknown ?? []).flatMap(at),
  };
}

interface FoundRow {
  readonly signatures: FoundAbis['signatures'] | null;
  /** By place among what was asked, from 1. */
  readonly own: readonly (readonly [number, string])[] | null;
  readonly pointedTo: readonly (readonly [number, string])[] | null;
  readonly sameCode: readonly (readonly [number, string])[] | null;
  readonly unknown: readonly number[] | null;
}

/** Looked at once a day: an announcement may be in a block that nobody followed. A reading that did not end is begun again. Clones never change. */
const IS_STALE = `(found.known_by = 'unread' OR found.until_block IS NULL) AND found.known_by <> 'eip-1167' AND found.read_at < now() -
  CASE WHEN found.known_by = 'unread' AND found.until_block IS NULL THEN interval '1 minute' ELSE interval '1 day' END`;

const FIND = `WITH asked AS (
    SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bigint[]) WITH ORDINALITY AS given (address, selector, block_number, place)),
  found AS (
    SELECT asked.place, asked.address, asked.selector, pointed.*,
      EXISTS (SELECT FROM contract_abi_entries AS entry
              WHERE entry.address = asked.address AND entry.chain_id = $4 AND entry.selector = asked.selector) AS is_known
    FROM asked LEFT JOIN LATERAL (
      SELECT known.implementation, known.known_by, known.until_block, known.read_at, known.selector = ''::bytea AS is_whole
      FROM contract_implementations AS known
      WHERE known.proxy = asked.address AND known.chain_id = $4 AND known.selector IN (''::bytea, asked.selector)
        AND known.from_block <= asked.block_number AND (known.until_block IS NULL OR known.until_block >= asked.block_number)
      ORDER BY known.selector DESC, known.from_block DESC LIMIT 1) AS pointed ON true)
  SELECT
    (SELECT json_agg(ARRAY[encode(listed.selector, 'hex'), listed.signature]) FROM (
       SELECT asked.selector, known.signature FROM unnest($5::bytea[]) AS asked (selector),
         LATERAL (SELECT DISTINCT own.signature FROM imported_signatures AS own
                  WHERE own.selector = asked.selector LIMIT ${SIGNATURES_MAX + 1}) AS known) AS listed) AS signatures,
    (SELECT json_agg(json_build_array(asked.place, entry.entry::text) ORDER BY entry.place)
       FROM asked JOIN contract_abi_entries AS entry
         ON entry.address = asked.address AND entry.chain_id = $4 AND entry.selector = asked.selector) AS own,
    (SELECT json_agg(json_build_array(found.place, entry.entry::text) ORDER BY entry.place)
       FROM found JOIN contract_abi_entries AS entry
         ON entry.address = found.implementation AND entry.chain_id = $4 AND entry.selector = found.selector) AS "pointedTo",
    (SELECT json_agg(json_build_array(found.place, entry.entry::text) ORDER BY entry.place)
       FROM found JOIN contract_codes AS code ON code.address = found.address AND code.chain_id = $4
       CROSS JOIN LATERAL (
         SELECT other.address, other.chain_id FROM contract_codes AS other
         WHERE other.has_abi AND other.code_hash = code.code_hash AND EXISTS (
           SELECT FROM contract_abi_entries AS known
           WHERE known.address = other.address AND known.chain_id = other.chain_id AND known.selector = found.selector)
         ORDER BY other.chain_id <> $4, other.chain_id, other.address LIMIT 1) AS twin
       JOIN contract_abi_entries AS entry
         ON entry.address = twin.address AND entry.chain_id = twin.chain_id AND entry.selector = found.selector
       WHERE NOT found.is_known) AS "sameCode",
    (SELECT json_agg(found.place) FROM found
       WHERE NOT found.is_known AND EXISTS (SELECT FROM contract_abi_entries)
         AND (found.known_by IS NULL OR found.known_by = 'eip-2535' AND found.is_whole OR ${IS_STALE})) AS unknown`;
