/**
 * Which package may import which. Layers from the bottom up; a package imports packages of lower layers only, through
 * their public face, and declares each of them. Tests, benchmarks and the demo may use the testkit besides.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['core'],
  ['chains', 'upstream-http', 'abi'],
  ['rpc', 'db', 'egress', 'proof', 'token-events', 'decoding'],
  ['sync', 'jobs', 'http'],
  ['state', 'answers', 'gateway', 'aptos'],
  ['tokens', 'transactions', 'contract-function', 'names'],
  ['erc20', 'prices', 'streams'],
  ['nft'],
  ['history'],
  ['datasets'],
  ['console'],
  ['apps'],
];

/** What the testkit stands on: everything below the engine, so that tests of the engine can use it. */
const TESTKIT_LAYER = 3;
const TESTKIT_USERS = [
  /\.test\.ts$/,
  /\/testing\//,
  /^bench\//,
  /^scripts\//,
  /^apps\/chainstead\/src\/(?:acceptance|demo)\//,
  /^apps\/simulation\//,
  /^packages\/testkit\//,
];

/** What only tests use: a folder of a package, or what a package exports of it. */
const TESTING = /\/testing(?:\/|$)/;

const TEST_FILES = [/\.test\.ts$/, TESTING];

/** A source file and what it imports. */
export interface Module {
  /** From the repository root, with `/`. */
  readonly path: string;
  readonly imports: readonly ModuleImport[];
}

export interface ModuleImport {
  readonly specifier: string;
  /** Erased before running, hence harmless in a circle of modules. */
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
  return modules
    .filter(({ path }) => !TESTKIT_USERS.some((user) => user.test(path)))
    .flatMap(({ path, imports }) =>
      imports
        .filter(({ specifier }) => /^viem(?:\/|$)/.test(specifier))
        .flatMap(({ names }) => names.filter((name) => UNBOUNDED_DECODERS.test(name)))
        .map((name) => `${path} imports ${name} of viem: decode with decodeAbi of @chainstead/abi`),
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

/** Packages in which some files still know each other by their types. */
const TYPE_CIRCLES: ReadonlySet<string> = new Set(['gateway', 'nft', 'rpc', 'sync'].map((name) => `packages/${name}`));

/** Each circle of product files that import each other, types too, in the packages that have none. */
export function findTypeCircles(modules: readonly Module[]): string[] {
  const looked = modules.filter(
    ({ path }) => !TYPE_CIRCLES.has(ownerOf(path)) && !TEST_FILES.some((test) => test.test(path)),
  );
  return circlesOf(new Map(looked.map((module) => [module.path, relativeImports(module)])));
}

/**
 * Each circle of folders beside each other in a package, by what their product files import, types too. Files that lie beside
 * folders are no part of it: they put the folders together, or are what all of them stand on.
 */
export function findFolderCircles(modules: readonly Module[]): string[] {
  const edges = new Map<string, Set<string>>();
  for (const { path, imports } of modules.filter((module) => !TEST_FILES.some((test) => test.test(module.path))))
    for (const { specifier } of imports.filter((one) => one.specifier.startsWith('.'))) {
      const [from, to] = foldersApart(path, resolveRelative(path, specifier));
      if (from === undefined || to === undefined) continue;
      edges.set(from, (edges.get(from) ?? new Set()).add(to));
    }
  return circlesOf(edges);
}

/** The folders in which two paths part; nothing where one of the files lies beside the other's folder. */
function foldersApart(one: string, other: string): readonly string[] {
  const [left, right] = [one.split('/'), other.split('/')];
  const parting = left.findIndex((name, index) => name !== right[index]);
  if (parting + 1 >= left.length || parting + 1 >= right.length) return [];
  return [left, right].map((names) => names.slice(0, parting + 1).join('/'));
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

/** `packages/db`, `apps/chainstead`, `bench`, `scripts`: the first folder that owns the file. */
function ownerOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'packages' || first === 'apps' ? `${first}/${second}` : first;
}

function wrongRelativeImport(path: string, specifier: string): string | null {
  // Scripts belong to the repository and may look into every part of it.
  if (path.startsWith('scripts/')) return null;
  const target = resolveRelative(path, specifier);
  if (ownerOf(target) !== ownerOf(path)) return 'leaves its package; import the package by its name';
  if (!TESTING.test(target) || TESTKIT_USERS.some((user) => user.test(path))) return null;
  return ONLY_TESTS;
}

function wrongPackageImport(path: string, specifier: string): string | null {
  const imported = /^@chainstead\/([^/]+)/.exec(specifier)?.[1];
  if (imported === undefined) return null;
  const owner = ownerOf(path);
  if (imported === 'testkit')
    return TESTKIT_USERS.some((user) => user.test(path)) ? null : 'only tests, benchmarks and the demo may';
  if (TESTING.test(specifier) && !TESTKIT_USERS.some((user) => user.test(path))) return ONLY_TESTS;
  if (owner === 'bench' || owner === 'scripts') return null;
  const name = owner.startsWith('apps/') ? 'apps' : owner.replace('packages/', '');
  if (imported === name) return null;
  const own = name === 'testkit' ? TESTKIT_LAYER : layerOf(name);
  return layerOf(imported) < own ? null : `${imported} is not below ${name}`;
}

const ONLY_TESTS = 'only tests may import what is in a testing folder';

function layerOf(name: string): number {
  const layer = LAYERS.findIndex((names) => names.includes(name));
  if (layer < 0) throw new Error(`${name} is in no layer: add it to scripts/check/dependency-direction.ts`);
  return layer;
}

function resolveRelative(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}
