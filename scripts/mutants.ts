/**
 * `npm run mutants`: makes small faults in the product by a seed and runs the tests against each. Prints the test that killed each mutant, the
 * survivors and a table by area. Exit code 1 if less than 95 % are killed. Mutates the last commit, in a checkout of its own.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listFiles, REPOSITORY_ROOT } from './check/source-files.ts';
import { AREA_NAMES, AREAS, type Area, isArea, isMutable } from './mutants/areas.ts';
import { EQUIVALENT_MUTANTS } from './mutants/equivalent-mutants.ts';
import { chooseMutants, type Mutant, makeMutants } from './mutants/make-mutants.ts';
import { CIRCLES, type Circle, type MutatedCheckout, openMutatedCheckout } from './mutants/mutated-checkout.ts';
import { type Fate, isGoodEnough, tableOf } from './mutants/result-table.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seed: { type: 'string', default: '38' },
    /** Mutants of each area. */
    count: { type: 'string', default: '11' },
    /** The widest circle of tests. */
    circle: { type: 'string', default: 'system' },
    /** Where the results are written. */
    out: { type: 'string', default: join(REPOSITORY_ROOT, 'node_modules/.cache/mutants.json') },
    /** Results of an earlier run: mutants killed there aren't run again. */
    resume: { type: 'string' },
    /** Print the mutants and exit. */
    list: { type: 'boolean', default: false },
  },
});

const PARTS_OF_FAST = new Set<Circle>(['folder', 'related']);

const last = CIRCLES.map(String).indexOf(values.circle);
if (last < 0) throw new Error(`Unknown circle "${values.circle}". Use one of: ${CIRCLES.join(', ')}`);
const circles = CIRCLES.slice(0, last + 1);
const chosen = areasFrom(values.only).flatMap((area) =>
  chooseMutants(mutantsOf(area), Number(values.seed), Number(values.count)).map((mutant) => ({ area, mutant })),
);
if (values.list) for (const { area, mutant } of chosen) console.log(`${area}: ${describe(mutant)}`);
else await runAll();

async function runAll(): Promise<void> {
  const earlier = readEarlier(values.resume);
  const fates: Fate[] = [];
  await using checkout = await openMutatedCheckout();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, async () => {
      await checkout[Symbol.asyncDispose]();
      process.exit(1);
    });
  await requireClean(checkout);
  for (const { area, mutant } of chosen) {
    const known = earlier.find(({ key, killedBy }) => key === mutant.key && killedBy !== null);
    const fate = known ?? (await decide(checkout, area, mutant));
    fates.push(fate);
    console.log(`${area}: ${describe(mutant)}\n    ${verdict(fate)}`);
    writeFileSync(values.out, JSON.stringify(fates, null, 2));
  }
  for (const { area, key } of fates.filter(isSurvivor)) console.log(`survived: ${area}: ${key}`);
  console.log(tableOf(fates).join('\n'));
  process.exitCode = isGoodEnough(fates) ? 0 : 1;
}

async function decide(checkout: MutatedCheckout, area: Area, mutant: Mutant): Promise<Fate> {
  const { key, path, text } = mutant;
  const reason = EQUIVALENT_MUTANTS.get(key);
  if (reason !== undefined) return { area, key, killedBy: null, circle: null, equivalent: reason };
  const restore = await checkout.replace(path, text);
  try {
    for (const circle of circles) {
      const killedBy = await checkout.firstFailure(circle, [path]);
      if (killedBy !== null) return { area, key, killedBy, circle, equivalent: null };
    }
  } finally {
    await restore();
  }
  return { area, key, killedBy: null, circle: null, equivalent: null };
}

/** @throws Error if a test fails without any mutant: nothing could be told from the others then */
async function requireClean(checkout: MutatedCheckout): Promise<void> {
  const paths = [...new Set(chosen.map(({ mutant }) => mutant.path))];
  // The tier `fast` contains the tests of the two circles before it.
  for (const circle of circles.includes('fast') ? circles.filter((one) => !PARTS_OF_FAST.has(one)) : circles) {
    const failure = await checkout.firstFailure(circle, paths);
    if (failure !== null) throw new Error(`A test fails without a mutant (${circle}): ${failure}`);
  }
}

function mutantsOf(area: Area): Mutant[] {
  return listFiles(...AREAS[area])
    .filter(isMutable)
    .flatMap((path) => makeMutants({ path, text: readFileSync(join(REPOSITORY_ROOT, path), 'utf8') }));
}

function areasFrom(names: readonly string[] = AREA_NAMES): Area[] {
  return names.map((name) => {
    if (isArea(name)) return name;
    throw new Error(`Unknown area "${name}". Use one of: ${AREA_NAMES.join(', ')}`);
  });
}

function readEarlier(path: string | undefined): readonly Fate[] {
  return path === undefined ? [] : JSON.parse(readFileSync(path, 'utf8'));
}

function describe({ path, line, kind, from, to }: Mutant): string {
  return `${path}:${line} ${kind}: ${from} → ${to}`;
}

function verdict({ killedBy, circle, equivalent }: Fate): string {
  if (equivalent !== null) return `equivalent: ${equivalent}`;
  return killedBy === null ? 'SURVIVED' : `killed by ${killedBy} (${circle})`;
}

function isSurvivor({ killedBy, equivalent }: Fate): boolean {
  return killedBy === null && equivalent === null;
}
