/** GitHub's workflows and issue templates: their form, and that they run what the repository has. */
import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const at = (path: string): string => join(ROOT, path);
const WORKFLOWS = '.github/workflows';
const TEMPLATES = '.github/ISSUE_TEMPLATE';

/** Version of an action: a commit, since its owner can move branches and tags. */
const USES = /^[\w-]+\/[\w./-]+@[0-9a-f]{40}$/;

const permissions = z.partialRecord(
  z.enum(['attestations', 'contents', 'id-token', 'packages']),
  z.enum(['read', 'write', 'none']),
);
const step = z
  .strictObject({
    name: z.string().optional(),
    id: z.string().optional(),
    uses: z.string().regex(USES).optional(),
    run: z.string().optional(),
    with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
    env: z.record(z.string(), z.string()).optional(),
  })
  .refine(
    ({ uses, run }) => (uses === undefined) !== (run === undefined),
    'a step either uses an action or runs a line',
  );
const workflow = z.strictObject({
  name: z.string(),
  on: z.partialRecord(z.enum(['push', 'pull_request']), z.unknown()),
  permissions,
  concurrency: z.strictObject({ group: z.string(), 'cancel-in-progress': z.boolean() }).optional(),
  jobs: z.record(
    z.string(),
    z.strictObject({
      'runs-on': z.string(),
      needs: z.string().optional(),
      'timeout-minutes': z.number().max(90),
      permissions: permissions.optional(),
      steps: z.array(step).min(1),
    }),
  ),
});
type Workflow = z.infer<typeof workflow>;

const field = z.strictObject({
  type: z.enum(['markdown', 'textarea', 'input']),
  id: z.string().optional(),
  attributes: z.looseObject({ label: z.string().optional(), value: z.string().optional() }),
  validations: z.strictObject({ required: z.boolean() }).optional(),
});
const template = z.strictObject({
  name: z.string(),
  description: z.string(),
  labels: z.array(z.string()),
  body: z.array(field).min(1),
});

/** Parsed strictly: a key that is written twice, or a tab, is an error. */
function readYaml(path: string): unknown {
  const document = parseDocument(readFileSync(at(path), 'utf8'), { strict: true, uniqueKeys: true });
  expect([path, document.errors, document.warnings]).toEqual([path, [], []]);
  return document.toJS();
}

const readWorkflow = (name: string): Workflow => workflow.parse(readYaml(`${WORKFLOWS}/${name}`));
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps);
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(at('package.json'), 'utf8')));

describe.each(readdirSync(at(WORKFLOWS)))('the workflow %s', (name) => {
  it('has the form that GitHub asks for, and no more rights than it names', () => {
    const { jobs } = readWorkflow(name);
    for (const { needs } of Object.values(jobs)) expect(needs === undefined || needs in jobs).toBe(true);
  });

  it('runs scripts and files that the repository has', () => {
    for (const { run = '' } of stepsOf(readWorkflow(name))) {
      for (const [, script = ''] of run.matchAll(/\bnpm run ([\w:-]+)/g)) expect(scripts).toHaveProperty(script);
      for (const [file] of run.matchAll(/(?:scripts\/[\w/-]+\.ts|\.ci\/run)/g))
        expect([file, existsSync(at(file))]).toEqual([file, true]);
    }
  });

  it('takes what earlier steps of the same job give, and nothing that no step does', () => {
    for (const { steps } of Object.values(readWorkflow(name).jobs))
      for (const [place, one] of steps.entries()) {
        const before = new Set(steps.slice(0, place).map(({ id }) => id));
        for (const [, id] of JSON.stringify(one).matchAll(/steps\.(\w+)\.outputs/g))
          expect([id, before.has(id)]).toEqual([id, true]);
      }
  });
});

describe('ci.yml', () => {
  it('runs what must pass, with the whole history', () => {
    const steps = stepsOf(readWorkflow('ci.yml'));
    expect(steps.map(({ run }) => run)).toContain('.ci/run');
    accessSync(at('.ci/run'), constants.X_OK);
    const checkout = steps.find(({ uses }) => uses?.startsWith('actions/checkout@') === true);
    expect(checkout?.with).toMatchObject({ 'fetch-depth': 0 });
  });
});

describe('release.yml', () => {
  const release = readWorkflow('release.yml');

  it('publishes only what has passed, from a tag alone', () => {
    expect(release.on).toEqual({ push: { tags: ['v*.*.*'] } });
    expect(release.jobs.published?.needs).toBe('checked');
    expect(release.jobs.checked?.steps.map(({ run }) => run)).toContain('.ci/run');
  });

  it('makes the package with its provenance, the image, checksums of both, and notes from CHANGELOG.md', () => {
    const published = release.jobs.published;
    const lines = published?.steps.map(({ run = '' }) => run).join('\n');
    expect(lines).toContain('npm run pack');
    expect(lines).toMatch(/npm publish --provenance/);
    expect(lines).toContain('sha256sum chainstead-*.tgz');
    expect(lines).toMatch(/gh release create .*--notes-file notes\.md .*SHA256SUMS/);
    // The registry of images refuses capital letters, which owners may have.
    expect(JSON.stringify(release.jobs)).not.toMatch(
      /ghcr\.io\/(?:\$\{\{ github\.repository \}\}|\$GITHUB_REPOSITORY\b)/,
    );
    expect(published?.permissions).toMatchObject({ 'id-token': 'write', contents: 'write' });
    expect(published?.steps.map(({ uses }) => uses?.split('@')[0])).toContain('docker/build-push-action');
  });
});

describe.each(readdirSync(at(TEMPLATES)).filter((name) => name !== 'config.yml'))(
  'the issue template %s',
  (name) => {
    it('asks for the version and for chainstead status', () => {
      const { body } = template.parse(readYaml(`${TEMPLATES}/${name}`));
      const requested = body.flatMap(({ id, attributes }) => (id === undefined ? [] : [[id, attributes.label]]));
      expect(requested).toContainEqual(['version', 'Version']);
      expect(requested).toContainEqual(['status', 'chainstead status']);
      expect(new Set(requested.map(([id]) => id)).size).toBe(requested.length);
    });
  },
);
