import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Hash, parseHash } from '@chainstead/core';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { readHeader } from '../blocks/decode-header.ts';
import { hexToBytes } from '../rlp/rlp-text.ts';
import {
  accumulatorRoot,
  beaconNetwork,
  branchRoot,
  checkHeaderProof,
  type HeaderRecord,
  type HistoryLists,
  hashPair,
  headerProofKind,
  listRoot,
  readHashesList,
  splitNodes,
} from './header-proof.ts';

const { folder, isMissing, title } = recordedData('data/proofs');
const read = (path: string): Buffer => readFileSync(join(folder, path));
const json = (path: string) => JSON.parse(read(path).toString('utf8'));

/** Epoch, offset, six proof nodes; then the entries. */
const SUMMARIES_START = 204;
const KINDS = ['historical-hashes-accumulator', 'historical-roots', 'summaries-capella', 'summaries-deneb'];

function lists(): HistoryLists {
  return {
    hashes: readHashesList(read('lists/historical-hashes-accumulator.ssz')),
    roots: read('lists/historical-roots.ssz'),
    summaries: read('lists/historical-summaries-with-proof-epoch-364328.ssz').subarray(SUMMARIES_START),
  };
}

function proof(file: string) {
  const { header, proofSsz, kind } = json(`canonicality/${file}`);
  const decoded = readHeader(hexToBytes(header));
  if (decoded === null) throw new RangeError(`${file} has no header`);
  return { header: decoded, ssz: hexToBytes(proofSsz), kind: KINDS.indexOf(kind) };
}

const MAINNET = beaconNetwork(1);
if (MAINNET === null) throw new RangeError('Mainnet is missing');
const FILES = isMissing ? [] : readdirSync(join(folder, 'canonicality'));

describe.skipIf(isMissing)(title('proofs of mainnet headers'), () => {
  test.each(FILES)('%s is in its list', (file) => {
    const { header, ssz, kind } = proof(file);
    expect(headerProofKind(header, MAINNET)).toBe(kind);
    expect(checkHeaderProof(header, ssz, MAINNET, lists())).toBe('proven');
  });

  test.each(FILES)('%s proves no other header, and nothing with a changed byte', (file) => {
    const { header, ssz } = proof(file);
    const other = { ...header, hash: parseHash(`0x${'12'.repeat(32)}`) };
    expect(checkHeaderProof(other, ssz, MAINNET, lists())).toBe('wrong');
    for (let at = 0; at < ssz.length; at += 29) {
      const changed = Buffer.from(ssz);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(checkHeaderProof(header, changed, MAINNET, lists())).toBe('wrong');
    }
    for (const end of [0, 5, 8, 32, 480, ssz.length - 32, ssz.length - 1])
      if (end < ssz.length)
        expect(checkHeaderProof(header, ssz.subarray(0, end), MAINNET, lists())).toBe('wrong');
  });

  test('a list that is absent or ends earlier proves nothing and refutes nothing', () => {
    const none = { hashes: null, roots: null, summaries: Buffer.alloc(64) };
    for (const file of FILES) {
      const { header, ssz } = proof(file);
      expect(checkHeaderProof(header, ssz, MAINNET, none)).toBe('unlisted');
    }
  });

  test('the records of an epoch hash to its entry', () => {
    const bytes = read('lists/epoch-record-00122.ssz');
    const nodes = splitNodes(bytes) ?? [];
    const records: HeaderRecord[] = [];
    for (let at = 0; at < nodes.length; at += 2)
      records.push({
        hash: `0x${nodes[at]?.toString('hex')}` as Hash,
        totalDifficulty: BigInt(
          `0x${Buffer.from(nodes[at + 1] ?? [])
            .reverse()
            .toString('hex')}`,
        ),
      });
    expect(records).toHaveLength(8192);
    const root = accumulatorRoot(records);
    expect(
      lists()
        .hashes?.subarray(122 * 32, 123 * 32)
        .equals(root),
    ).toBe(true);
  });

  test.each(['deneb', 'electra'])('the list of summaries is part of the %s state', (fork) => {
    const vector = json('lists/list-vectors.json')[fork];
    const leaves = vector.summaries.map((entry: Record<string, string>) =>
      hashPair(hexToBytes(entry.blockSummaryRoot ?? ''), hexToBytes(entry.stateSummaryRoot ?? '')),
    );
    const root = listRoot(leaves, 24);
    expect(`0x${root.toString('hex')}`).toBe(vector.listRoot);
    const state = branchRoot(root, vector.proof.map(hexToBytes), vector.generalizedIndex);
    expect(`0x${state?.toString('hex')}`).toBe(vector.beaconStateRoot);
  });

  test.each([
    ['19426586', 13],
    ['19426587', 13],
    ['22162263', 13],
  ])('the block roots of the era of %s hash to the root of its branch', (block, depth) => {
    const { ssz } = proof(`${block}.json`);
    const nodes = splitNodes(ssz.subarray(0, -8)) ?? [];
    const slot = Number(ssz.readBigUInt64LE(ssz.length - 8));
    const roots = splitNodes(read(`beacon/${block}/block-roots.ssz`)) ?? [];
    const beaconRoot = nodes[depth] ?? Buffer.alloc(0);
    expect(roots[slot % 8192]?.equals(beaconRoot)).toBe(true);
    let level = roots;
    for (let height = 0; height < depth; height++)
      level = level.flatMap((left, at) => (at % 2 === 0 ? [hashPair(left, level[at + 1] ?? left)] : []));
    expect(
      level[0]?.equals(branchRoot(beaconRoot, nodes.slice(0, depth), 8192 + (slot % 8192)) ?? Buffer.alloc(0)),
    ).toBe(true);
  });
});

test('a header between two slots, and one from Gloas on, has no kind', () => {
  const sepolia = beaconNetwork(11_155_111);
  if (sepolia === null) throw new RangeError('Sepolia is missing');
  expect(headerProofKind({ number: 20_000_000, timestamp: 1_700_000_001 }, MAINNET)).toBeNull();
  expect(headerProofKind({ number: 12_000_000, timestamp: 1_791_294_816 }, sepolia)).toBeNull();
  expect(headerProofKind({ number: 12_000_000, timestamp: 1_791_294_804 }, sepolia)).toBe(3);
  expect(beaconNetwork(10)).toBeNull();
});
