import { expect, test } from 'vitest';
import { type HistoryPlan, type PlanFacts, planFindings } from './make-plan.ts';
import { planJson, renderPlan, shortPlan } from './plan-text.ts';

const GB = 1_024 ** 3;

const estimate: HistoryPlan['estimate'] = {
  blocks: 5_000_000,
  datasets: [
    { name: 'erc20-transfers', rows: 400_000_000, bytes: 100 * GB, isMeasured: true },
    { name: 'swaps', rows: 1_000_000, bytes: GB, isMeasured: false },
  ],
  reads: [
    {
      source: 'portal a.example',
      reading: 'whole blocks',
      blocks: 4_000_000,
      ...{ sampled: 200, intended: 200 },
      perSecond: 1_000,
      failure: null,
    },
    {
      source: null,
      reading: 'whole blocks',
      blocks: 5_000_000,
      sampled: 90,
      intended: 90,
      perSecond: 2.5,
      failure: null,
    },
  ],
  seconds: 404_000,
};

const facts: PlanFacts = {
  chain: { id: 1, key: 'eth' } as PlanFacts['chain'],
  hasSources: true,
  disk: { isKnown: true, sizeBytes: 900 * GB, freeBytes: 500 * GB, source: 'folder' },
  memoryBytes: 8 * GB,
  ingestProcesses: 1,
  callsPerSecond: [null],
  calls: 10_000_000,
};

const planOf = (changes: Partial<PlanFacts> = {}, own: Partial<HistoryPlan['estimate']> = {}): HistoryPlan => ({
  ...{ chain: 'eth', ranges: [{ from: 1, to: 5_000_000 }], estimate: { ...estimate, ...own } },
  findings: planFindings({ ...estimate, ...own }, { ...facts, ...changes }),
});

test('a plan shows rows and disk of each dataset, and the hours of each source', () => {
  expect(renderPlan(planOf())).toBe(`eth: blocks 1 to 5000000, 5,000,000 to index

dataset                 rows  disk      bytes per row from
erc20-transfers  400,000,000  100.0 GB  stored rows
swaps              1,000,000  1.0 GB    the sample
total            401,000,000  101.0 GB

source            reads            blocks  sampled  blocks/s  hours
portal a.example  whole blocks  4,000,000      200  1,000     1.1
nodes             whole blocks  5,000,000       90  2.5       556

About 4d 16h from the first source that has a block, with one process. ROLES=ingest:N shares the work.
Postgres must write 993 rows per second for that, which is not measured.
blocks/s = 4 reads at once ÷ (wait for a request ÷ blocks of a full request + time per block), measured in the sample.
rows = rows of the sample × blocks ÷ sampled blocks. Rows of contracts and tokens that appear later are not in it.

  ok       disk                      101.0 GB needed, 500.0 GB free
  ok       memory                    1000.0 MB needed, 8.0 GB in this machine or container
  ok       calls of nodes            at least 10,000,000 if nodes read everything
`);
});

test('JSON has the same numbers', () => {
  const { findings, ...json } = planJson(planOf());
  expect(findings).toHaveLength(3);
  expect(json).toMatchObject({
    ...{ chain: 'eth', blocks: 5_000_000, rows: 401_000_000, bytes: 101 * GB, hours: 404_000 / 3_600 },
    ranges: [{ from_block: 1, to_block: 5_000_000, blocks: 5_000_000 }],
    sources: [
      { source: 'portal a.example', blocks_per_second: 1_000 },
      { source: 'nodes', failure: null },
    ],
  });
});

test('a short plan names problems only', () => {
  expect(shortPlan(planOf())).toBe(
    'eth: about 401,000,000 rows and 101.0 GB for 5,000,000 blocks. About 4d 16h from the first source that has a block.\n',
  );
  expect(shortPlan(planOf({ memoryBytes: GB / 2 }))).toContain(
    'Check memory: 1000.0 MB needed, 512.0 MB in this',
  );
});

test.each<[string, Partial<PlanFacts>, Partial<HistoryPlan['estimate']>, string, string]>([
  [
    'a disk that is too small',
    { disk: { isKnown: true, sizeBytes: 90 * GB, freeBytes: 60 * GB, source: 'folder' } },
    {},
    'bad',
    '101.0 GB needed, 60.0 GB free',
  ],
  [
    'a disk that gets full',
    { disk: { isKnown: true, sizeBytes: 190 * GB, freeBytes: 120 * GB, source: 'folder' } },
    {},
    'warning',
    '101.0 GB needed, 120.0 GB free',
  ],
  [
    'an unknown disk',
    { disk: { isKnown: false, reason: 'Postgres is elsewhere' } },
    {},
    'warning',
    '101.0 GB needed, free space unknown',
  ],
  [
    'datasets that no source returned',
    {},
    { datasets: [{ name: 'swaps', rows: null, bytes: null, isMeasured: false }] },
    'warning',
    'unknown for swaps',
  ],
  [
    'a slow node without a source',
    { callsPerSecond: [10] },
    { reads: estimate.reads.slice(1), seconds: 100 },
    'warning',
    'at least 10,000,000 if nodes read everything, at 10.0 per second: 11d 13h',
  ],
  ['a chain that a public Portal has', { hasSources: false }, {}, 'warning', 'none'],
  [
    'nodes without old blocks',
    {},
    {
      reads: [
        {
          source: null,
          reading: 'traces',
          blocks: 9,
          sampled: 0,
          intended: 9,
          perSecond: null,
          failure: 'no traces',
        },
      ],
      seconds: null,
    },
    'bad',
    'traces: no traces',
  ],
  [
    'a source whose sample is small',
    {},
    { reads: estimate.reads.map((read) => ({ ...read, sampled: 40, intended: 200 })) },
    'warning',
    'whole blocks: 40 of 200 blocks sampled',
  ],
])('a plan names %s', (_name, changes, own, verdict, found) => {
  expect(planOf(changes, own).findings).toContainEqual(expect.objectContaining({ verdict, found }));
});

test('time is unknown if some blocks can be read nowhere', () => {
  expect(shortPlan(planOf({}, { seconds: null }))).toContain(
    'The time is unknown: some blocks could not be read.',
  );
});
