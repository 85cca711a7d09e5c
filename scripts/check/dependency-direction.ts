/**
 * Which package may import which. Floors from the bottom up, the packages of each from left to right: an import goes down a floor, or to the
 * left. A package is imported through its public face, and declared. Tests and benchmarks may also use the testkit.
 */
export const FLOORS = {
  foundation: ['core', 'chains', 'events', 'proof'],
  doors: ['rpc', 'sources', 'db', 'egress', 'jobs'],
  engine: ['sync', 'http', 'node-reads', 'pages'],
  assets: ['tokens', 'erc20', 'nft', 'markets', 'prices', 'transactions', 'contracts', 'aptos'],
  products: ['streams', 'gateway', 'graphql', 'mcp', 'lake', 'console'],
} as const;

const TESTKIT_USERS = [/\.test\.ts$/, /\/testing\//, /^bench\//, /^scripts\//, /^tests\//];

/** What only tests use: a folder of a package, or what a package exports of it. */
const TESTING = /\/testing(?:\/|$)/;

const TEST_FILES = [/\.test\.ts$/, TESTING];

/** Whether a file, by its path from the repository root, is no part of the program: tests, and what only they, benchmarks, scripts and the demo use. */
export function isForTests(path: string): boolean {
  return TESTKIT_USERS.some((user) => user.test(path));
}

/** A source file and what it imports. */
export interface Module {
  /** From the repository root, with `/`. */
  readonly path: string;
  readonly imports: readonly ModuleImport[];
}

export interface ModuleImport {
  readonly specifier: string;
  /** Erased before running, so harmless in a circle of modules. */
  readonly isTypeOnly: boolean;
  /** Values that are imported by name; `*` for all of a module. */
  readonly names: readonly string[];
}

const IMPORT = /^(?:import|export)\s+(type\s+)?(?:([^'";]*?)\sfrom\s+)?'([^']+)';/gm;
const DYNAMIC_IMPORT = /\bimport\(\s*'([^']+)'\s*\)/g;

/** The imports of a source text as the formatter writes them (single quotes, statements at the start of a line). */
export function readImports(text: string): ModuleImport[] {
  const statements = text.matchAll(IMPORT).map((match) => ({
    specifier: match[3] ?? '',
    isTypeOnly: match[1] !== undefined,
    names: match[1] === undefined ? namesIn(match[2] ?? '') : [],
  }));
  const dynamic = text
    .matchAll(DYNAMIC_IMPORT)
    .map((match) => ({ specifier: match[1] ?? '', isTypeOnly: false, names: ['*'] }));
  return [...statements, ...dynamic];
}

/** The names of `{ a, b as c, type D }`, or `*`. */
function namesIn(clause: string): string[] {
  if (!clause.includes('{')) return clause.includes('*') ? ['*'] : [];
  const names = clause.replace(/^.*\{|\}.*$/gs, '').split(',');
  return names.flatMap((name) => /^\s*(?!type\s)(\w+)/.exec(name)?.[1] ?? []);
}

/** What of viem decodes data of contracts as large as it makes itself, alone or within an action. */
const UNBOUNDED_DECODERS = new RegExp(
  `^(?:\\*|decode(?:AbiParameters|FunctionResult|FunctionData|EventLog|ErrorResult|DeployData)|parseEventLogs|getEns\\w+|${[
    'readContract',
    'multicall',
    'simulate\\w*',
    'call',
    'getContract\\w*',
    'getLogs',
    'createPublicClient',
    'publicActions',
    'offchainLookup',
    'ccip\\w+',
    'localBatchGatewayRequest',
    'parseErc\\w+',
  ].join('|')})$`,
);

/** One sentence for each file of the product that decodes by viem: its decoders make gigabytes of a few kilobytes. */
export function findUnboundedDecoders(modules: readonly Module[]): string[] {
  return (
    modules
      // The demo decodes results of its local node.
      .filter(({ path }) => !isForTests(path) && !path.startsWith('apps/chainstead/src/demo/'))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ specifier }) => /^viem(?:\/|$)/.test(specifier))
          .flatMap(({ names }) => names.filter((name) => UNBOUNDED_DECODERS.test(name)))
          .map((name) => `${path} imports ${name} of viem: decode with decodeAbi of @chainstead/events/abi`),
      )
  );
}

/** One sentence for each import that points the wrong way. */
export function findWrongImports(modules: readonly Module[]): string[] {
  return modules.flatMap((module) =>
    module.imports.flatMap(({ specifier }) => {
      const reason = specifier.startsWith('.')
        ? wrongRelativeImport(module.path, specifier)
        : wrongPackageImport(module.path, specifier);
      return reason === null ? [] : [`${module.path} imports ${specifier}: ${reason}`];
    }),
  );
}

/** Each circle of modules that import each other's values, as a path that ends where it began. */
export function findCircles(modules: readonly Module[]): string[] {
  return circlesOf(new Map(modules.map((module) => [module.path, valueImports(module)])));
}

/** Each circle of product files that import each other, types too. */
export function findTypeCircles(modules: readonly Module[]): string[] {
  const looked = modules.filter(({ path }) => !TEST_FILES.some((test) => test.test(path)));
  return circlesOf(new Map(looked.map((module) => [module.path, relativeImports(module)])));
}

/** Each circle of folders and files next to each other in a package, by the imports of their product files, types too. */
export function findFolderCircles(modules: readonly Module[]): string[] {
  const edges = new Map<string, Set<string>>();
  for (const { path, imports } of modules.filter((module) => !TEST_FILES.some((test) => test.test(module.path))))
    for (const { specifier } of imports.filter((one) => one.specifier.startsWith('.'))) {
      const target = resolveRelative(path, specifier);
      if (JOINTS.has(path) || JOINTS.has(target)) continue;
      const [from, to] = neighbours(path, target);
      if (from === undefined || to === undefined) continue;
      edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  return circlesOf(edges);
}

/** Files that import adjacent folders and are imported there: left out until their types have a separate place. */
const JOINTS: ReadonlySet<string> = new Set([
  'packages/products/console/src/console-page.ts',
  'packages/assets/erc20/src/moved-tables.ts',
]);

/** The folders or files in which two paths part; nothing where they are the same. */
function neighbours(one: string, other: string): readonly string[] {
  const [left, right] = [one.split('/'), other.split('/')];
  const parting = left.findIndex((name, index) => name !== right[index]);
  if (parting < 0) return [];
  return [left, right].map((names) => names.slice(0, parting + 1).join('/'));
}

/** Files of the program that may lie directly in a package's `src`: more of them belong in folders. */
const FILES_IN_SRC_MAX = 12;

/** One sentence for each package with too many files directly in its `src`. */
export function findFlatPackages(modules: readonly Module[]): string[] {
  const inSrc = modules.filter(({ path }) =>
    /^(?:apps|packages\/[^/]+)\/[^/]+\/src\/[^/]+(?<!\.test)\.ts$/.test(path),
  );
  return [...Map.groupBy(inSrc, ({ path }) => ownerOf(path))]
    .filter(([, files]) => files.length > FILES_IN_SRC_MAX)
    .map(
      ([owner, files]) =>
        `${owner}/src has ${files.length} files, of at most ${FILES_IN_SRC_MAX}: sort them into folders`,
    );
}

function circlesOf(edges: ReadonlyMap<string, Iterable<string>>): string[] {
  const finished = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      circles.push([...trail.slice(start), path].join(' → '));
      return;
    }
    if (finished.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    finished.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return circles;
}

function valueImports({ path, imports }: Module): string[] {
  return relativeImports({ path, imports: imports.filter(({ isTypeOnly }) => !isTypeOnly) });
}

function relativeImports({ path, imports }: Module): string[] {
  return imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => resolveRelative(path, specifier));
}

/** `packages/doors/db`, `apps/chainstead`, `bench`, `scripts`: the folder that owns the file. */
function ownerOf(path: string): string {
  const [first = '', second = '', third = ''] = path.split('/');
  if (first === 'packages') return `${first}/${second}/${third}`;
  return ['apps', 'tests'].includes(first) ? `${first}/${second}` : first;
}

function wrongRelativeImport(path: string, specifier: string): string | null {
  // Scripts belong to the repository and may look into every part of it.
  if (path.startsWith('scripts/')) return null;
  const target = resolveRelative(path, specifier);
  if (ownerOf(target) !== ownerOf(path)) return 'leaves its package; import the package by its name';
  if (!TESTING.test(target) || isForTests(path)) return null;
  return ONLY_TESTS;
}

function wrongPackageImport(path: string, specifier: string): string | null {
  if (specifier.startsWith('chainstead/') && !isForTests(path)) return 'only tests may import the program';
  const imported = /^@chainstead\/([^/]+)/.exec(specifier)?.[1];
  if (imported === undefined) return null;
  const owner = ownerOf(path);
  if (imported === 'testkit') return isForTests(path) ? null : 'only tests and benchmarks may';
  if (TESTING.test(specifier) && !isForTests(path)) return ONLY_TESTS;
  if (owner === 'bench' || owner === 'scripts' || owner.startsWith('tests/')) return null;
  if (owner.startsWith('apps/')) return null;
  const name = owner.split('/').at(-1) ?? '';
  if (imported === name) return null;
  return heightOf(imported) < heightOf(name) ? null : `${imported} is not below ${name}, or to its left`;
}

const ONLY_TESTS = 'only tests may import what is in a testing folder';

/** Position in {@link FLOORS}, read from the bottom left. */
function heightOf(name: string): number {
  const height = Object.values<readonly string[]>(FLOORS).flat().indexOf(name);
  if (height < 0) throw new Error(`${name} is on no floor: add it to scripts/check/dependency-direction.ts`);
  return height;
}

function resolveRelative(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}
