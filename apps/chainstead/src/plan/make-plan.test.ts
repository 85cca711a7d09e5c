import { expect, test } from 'vitest';
import { type Report, renderReports, reportsJson } from '../doctor/report.ts';
import { shortPlan } from './confirm-plan.ts';
import { type PlanFacts, planReport } from './make-plan.ts';

const GB = 1_024 ** 3;

type Estimate = Parameters<typeof planReport>[0];

const estimate: Estimate = {
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
  ranges: [{ from: 1, to: 5_000_000 }],
  hasSources: true,
  disk: { isKnown: true, sizeBytes: 900 * GB, freeBytes: 500 * GB, source: 'folder' },
  memoryBytes: 8 * GB,
  ingestProcesses: 1,
  callsPerSecond: [null],
  calls: 10_000_000,
};

const planOf = (changes: Partial<PlanFacts> = {}, own: Partial<Estimate> = {}): Report =>
  planReport({ ...estimate, ...own }, { ...facts, ...changes });

test('a plan shows rows and disk of each dataset, and the hours of each source', () => {
  expect(renderReports([planOf()])).toBe(`eth: blocks 1 to 5000000, 5,000,000 to index
  ok       erc20-transfers           400,000,000 rows, 100.0 GB; bytes per row from stored rows
  ok       swaps                     1,000,000 rows, 1.0 GB; bytes per row from sample
  ok       total                     401,000,000 rows, 101.0 GB
                                     Rows of the sample × blocks ÷ sampled blocks. Rows of contracts and tokens that appear later are not in it.
  ok       time                      about 4d 16h from the first source that has a block, with one process
                                     Blocks per second are 4 reads at once ÷ (wait for a request ÷ blocks of a full request + time per block), measured in the sample.
                                     Postgres must write 993 rows per second for that, which is not measured. ROLES=ingest:N shares the work.
  ok       portal a.example          whole blocks: 4,000,000 blocks at 1,000 per second, 1.1 hours; 200 of 200 blocks sampled
  ok       nodes                     whole blocks: 5,000,000 blocks at 2.5 per second, 556 hours; 90 of 90 blocks sampled
  ok       disk                      101.0 GB needed, 500.0 GB free
  ok       memory                    1000.0 MB needed, 8.0 GB in this machine or container
  ok       calls of nodes            at least 10,000,000 if nodes read everything

All checks passed.
`);
});

test('JSON has the same numbers', () => {
  const { plan } = JSON.parse(JSON.stringify(reportsJson([planOf()])));
  expect(plan).toMatchObject([{ chain: 'eth', verdict: 'ok' }]);
  const figures = Object.fromEntries(
    plan[0].findings.map(({ subject, facts: shown }: { subject: string; facts?: object }) => [subject, shown]),
  );
  expect(figures).toMatchObject({
    total: { ranges: [{ from: 1, to: 5_000_000 }], blocks: 5_000_000, rows: 401_000_000, bytes: 101 * GB },
    time: { hours: 404_000 / 3_600, rows_per_second: 401_000_000 / 404_000 },
    swaps: { rows: 1_000_000, bytes: GB, bytes_from: 'sample' },
    'portal a.example': { blocks_per_second: 1_000, sampled_blocks: 200 },
    nodes: { failure: null },
  });
});

test('a short plan names problems only', () => {
  expect(shortPlan(planOf())).toBe(
    'eth: blocks 1 to 5000000, 5,000,000 to index. total: 401,000,000 rows, 101.0 GB. time: about 4d 16h from the first source that has a block, with one process.\n',
  );
  expect(shortPlan(planOf({ memoryBytes: GB / 2 }))).toContain('memory: 1000.0 MB needed, 512.0 MB in this');
});

test.each<[string, Partial<PlanFacts>, Partial<Estimate>, string, string]>([
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
    'traces: 9 blocks; 0 of 9 blocks sampled: no traces',
  ],
  [
    'a source whose sample is small',
    {},
    { reads: estimate.reads.map((read) => ({ ...read, sampled: 40, intended: 200 })) },
    'warning',
    'whole blocks: 4,000,000 blocks at 1,000 per second, 1.1 hours; 40 of 200 blocks sampled',
  ],
])('a plan names %s', (_name, changes, own, verdict, found) => {
  expect(planOf(changes, own).findings).toContainEqual(expect.objectContaining({ verdict, found }));
});

test('time is unknown if some blocks can be read nowhere', () => {
  expect(shortPlan(planOf({}, { seconds: null }))).toContain('time: unknown: some blocks could not be read.');
});
