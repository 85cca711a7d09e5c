/**
 * `npm run mutants`: makes small faults in the product by a seed and runs the tests against each. Prints the test that killed each mutant, the
 * survivors and a table by area. Exit code 1 if less than 95 % are killed. Mutates the last commit, in a separate checkout.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { listFiles, REPOSITORY_ROOT } from './check/source-files.ts';
import { AREA_NAMES, AREAS, type Area, isArea, isMutable } from './mutants/areas.ts';
import { EQUIVALENT_MUTANTS } from './mutants/equivalent-mutants.ts';
import { chooseMutants, type Mutant, makeMutants } from './mutants/make-mutants.ts';
import { CIRCLES, type Failure, type MutatedCheckout, openMutatedCheckout } from './mutants/mutated-checkout.ts';
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
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => stop.abort(new Error(`${name} ended the run`)));
  await using checkout = await openMutatedCheckout(stop.signal);
  const clean = new Set<string>();
  for (const { area, mutant } of chosen) {
    const fate = knownFate(area, mutant, earlier) ?? (await decide(checkout, clean, area, mutant));
    fates.push(fate);
    console.log(`${area}: ${describe(mutant)}\n    ${verdict(fate)}`);
    writeFileSync(values.out, JSON.stringify(fates, null, 2));
  }
  for (const { area, key } of fates.filter(isSurvivor)) console.log(`survived: ${area}: ${key}`);
  console.log(tableOf(fates).join('\n'));
  process.exitCode = isGoodEnough(fates) ? 0 : 1;
}

/** Returns the fate that needs no run: of an equivalent mutant, and of one that was killed earlier. Otherwise null. */
function knownFate(area: Area, { key }: Mutant, earlier: readonly Fate[]): Fate | null {
  const reason = EQUIVALENT_MUTANTS.get(key);
  if (reason !== undefined) return { area, key, killedBy: null, circle: null, equivalent: reason };
  return earlier.find((fate) => fate.key === key && fate.killedBy !== null) ?? null;
}

async function decide(checkout: MutatedCheckout, clean: Set<string>, area: Area, mutant: Mutant): Promise<Fate> {
  const { key } = mutant;
  const failure = await firstFailure(checkout, mutant);
  if (failure === null) return { area, key, killedBy: null, circle: null, equivalent: null };
  await requireClean(checkout, clean, failure);
  return { area, key, killedBy: failure.name, circle: failure.circle, equivalent: null };
}

async function firstFailure(checkout: MutatedCheckout, { path, text }: Mutant): Promise<Failure | null> {
  const restore = await checkout.replace(path, text);
  try {
    for (const circle of circles) {
      const failure = await checkout.firstFailure(circle, path);
      if (failure !== null) return failure;
    }
    return null;
  } finally {
    await restore();
  }
}

/**
 * Runs what killed a mutant once more, without any mutant.
 *
 * @param clean what passed so already
 * @throws Error if it fails again: it says nothing about the mutant then
 */
async function requireClean(checkout: MutatedCheckout, clean: Set<string>, failure: Failure): Promise<void> {
  const key = String(failure.args ?? failure.circle);
  if (clean.has(key)) return;
  const again = await checkout.repeat(failure);
  if (again !== null) throw new Error(`A test fails without a mutant (${again.circle}): ${again.name}`);
  clean.add(key);
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
