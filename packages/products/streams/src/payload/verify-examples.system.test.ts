/** The functions of docs/api/webhooks-verify.md, in five languages, on webhooks that Chainstead signed. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookHeaders } from './signature.ts';

const PAGE = fileURLToPath(new URL('../../../../../docs/api/webhooks-verify.md', import.meta.url));
const CRATES = '/usr/share/cargo/registry';
const run = promisify(execFile);

interface Language {
  readonly name: string;
  /** The example is saved under this path. */
  readonly example: string;
  /** Further files by path. Their program prints whether a webhook is genuine: arguments are body, id, timestamp, signatures, secret. */
  readonly files: Readonly<Record<string, string>>;
  /** Commands: whether it is there, builds, and runs with those arguments. */
  readonly probe: readonly string[];
  readonly build?: readonly string[];
  readonly start: readonly string[];
  readonly packages: string;
}

const LANGUAGES: readonly Language[] = [
  {
    name: 'JavaScript',
    example: 'verify.mjs',
    files: {
      'main.mjs':
        "import { isGenuine } from './verify.mjs';\nconst [body, ...rest] = process.argv.slice(2);\nconsole.log(isGenuine(Buffer.from(body), ...rest));\n",
    },
    probe: [process.execPath, '--version'],
    start: [process.execPath, 'main.mjs'],
    packages: 'nodejs',
  },
  {
    name: 'Python',
    example: 'verify.py',
    files: {
      'main.py':
        'import sys\nfrom verify import is_genuine\nbody, *rest = sys.argv[1:]\nprint(str(is_genuine(body.encode(), *rest)).lower())\n',
    },
    probe: ['python3', '--version'],
    start: ['python3', 'main.py'],
    packages: 'python3',
  },
  {
    name: 'Go',
    example: 'verify.go',
    files: {
      'go.mod': 'module verify\n\ngo 1.19\n',
      'main.go':
        'package main\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc main() {\n\ta := os.Args\n\tfmt.Println(isGenuine([]byte(a[1]), a[2], a[3], a[4], a[5]))\n}\n',
    },
    probe: ['go', 'version'],
    build: ['go', 'build', '-o', 'verify', '.'],
    start: ['./verify'],
    packages: 'golang-go',
  },
  {
    name: 'Rust',
    example: 'src/verify.rs',
    files: {
      'Cargo.toml':
        '[package]\nname = "verify"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nhmac = "0.12"\nsha2 = "0.10"\nbase64 = "0.13"\n',
      '.cargo/config.toml': `[source.crates-io]\nreplace-with = "debian"\n\n[source.debian]\ndirectory = "${CRATES}"\n`,
      'src/main.rs':
        'mod verify;\n\nfn main() {\n    let a: Vec<String> = std::env::args().collect();\n    println!("{}", verify::is_genuine(a[1].as_bytes(), &a[2], &a[3], &a[4], &a[5]));\n}\n',
    },
    probe: ['sh', '-c', `cargo --version && ls ${CRATES} | grep hmac && ls ${CRATES} | grep base64-0.13`],
    build: ['cargo', 'build', '--offline', '--quiet'],
    start: ['./target/debug/verify'],
    packages: 'cargo, librust-hmac-dev, librust-sha2-dev and librust-base64-dev',
  },
  {
    name: 'PHP',
    example: 'verify.php',
    files: {
      'main.php':
        "<?php\nrequire __DIR__ . '/verify.php';\necho is_genuine(...array_slice($argv, 1)) ? 'true' : 'false', PHP_EOL;\n",
    },
    probe: ['php', '--version'],
    start: ['php', 'main.php'],
    packages: 'php-cli',
  },
];

const SECRET = 'the secret';
const BODY = '{"confirmed":true,"tag":"Zürich"}';
const signed = webhookHeaders({
  body: BODY,
  id: 'b7c2-1',
  sentAt: new Date(),
  // As during a rotation: the receiver still has the former secret.
  secrets: { current: 'a newer secret', previous: SECRET },
  queueSize: 0,
  region: 'local',
  confirmed: true,
  records: 1,
});
const late = webhookHeaders({
  body: BODY,
  id: 'b7c2-1',
  sentAt: new Date(Date.now() - 600_000),
  secrets: { current: SECRET, previous: null },
  queueSize: 0,
  region: 'local',
  confirmed: true,
  records: 1,
});

/** @returns arguments of the program */
function argumentsOf(headers: Readonly<Record<string, string>>, body = BODY, secret = SECRET): string[] {
  const named = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headers[name] ?? '');
  return [body, ...named, secret];
}

describe.each(LANGUAGES)('the check of signatures in $name', (language) => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chainstead-verify-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('accepts genuine webhooks alone', async ({ skip }) => {
    const [probe = '', ...probed] = language.probe;
    const isThere = await run(probe, probed).then(
      () => true,
      () => false,
    );
    if (!isThere) process.stdout.write(`NOT RUN: ${language.name} (Debian's ${language.packages}: missing)\n`);
    skip(!isThere);
    for (const [path, text] of Object.entries({
      ...language.files,
      [language.example]: await exampleOf(language),
    })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const env = { ...process.env, GOFLAGS: '-mod=mod', GOTOOLCHAIN: 'local', GOCACHE: join(folder, '.go') };
    const [build, ...built] = language.build ?? [];
    if (build !== undefined) await run(build, built, { cwd: folder, env });
    const [start = '', ...started] = language.start;
    const isGenuine = async (args: readonly string[]): Promise<string> =>
      (await run(start, [...started, ...args], { cwd: folder, env })).stdout.trim();
    const verdicts = {
      genuine: await isGenuine(argumentsOf(signed)),
      withAnotherBody: await isGenuine(argumentsOf(signed, BODY.replace('true', 'false'))),
      withAnotherSecret: await isGenuine(argumentsOf(signed, BODY, 'another secret')),
      withAnotherId: await isGenuine(argumentsOf({ ...signed, 'webhook-id': 'b7c2-2' })),
      withoutSignature: await isGenuine(argumentsOf({ ...signed, 'webhook-signature': '' })),
      withoutTime: await isGenuine(argumentsOf({ ...signed, 'webhook-timestamp': '' })),
      tenMinutesLate: await isGenuine(argumentsOf(late)),
    };
    const refused = Object.fromEntries(Object.keys(verdicts).map((name) => [name, 'false']));
    expect(verdicts).toEqual({ ...refused, genuine: 'true' });
  });
});

/** The block of the page that follows the file's name. */
async function exampleOf({ name, example }: Language): Promise<string> {
  const file = example.replace('src/', '');
  const [, text] = new RegExp(
    `\\*\\*${name}\\*\\*, \`${file}\`[^\\n]*:\\n\\n\`\`\`\\w+\\n([\\s\\S]*?)^\`\`\``,
    'm',
  ).exec(await readFile(PAGE, 'utf8')) ?? [''];
  if (text === undefined) throw new Error(`docs/api/webhooks-verify.md has no ${file}`);
  return text;
}
