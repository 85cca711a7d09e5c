import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from '@chainstead/db';
import { createScratchDatabase } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it } from 'vitest';
import { runCaptured } from './testing/captured-context.ts';
import { jsonLines, openCommandStage } from './testing/command-stage.ts';

const stage = stageOfFile(openCommandStage);
const run = (...args: string[]) => stage.run(...args);

describe('config', () => {
  it('validate says what is wrong and ends with 2', async () => {
    const { exitCode, stderr } = await runCaptured(['config', 'validate'], {
      PORT: 'x',
      CHAINS: 'eth',
      RPC_URL_ETH: 'y',
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('PORT="x" is not a whole number.');
  });

  it('validate warns of keys without effect and ends with 0', async () => {
    const { exitCode, stdout, stderr } = await runCaptured(['config', 'validate'], {
      CHAINS: 'eth',
      RPC_URL_ETH: 'y',
    });
    expect([exitCode, stdout]).toEqual([0, 'The configuration is valid. Chains: eth (1).\n']);
    expect(stderr).toContain('did you mean RPC_URLS_ETH?');
  });

  it('validate names the networks of Aptos among the chains', async () => {
    const { stdout } = await runCaptured(['config', 'validate'], {
      CHAINS: 'eth',
      APTOS_NODE_URL: 'http://127.0.0.1:9',
      APTOS_TESTNET_NODE_URL: 'http://127.0.0.1:9',
    });
    expect(stdout).toContain('Chains: eth (1), aptos, aptos-testnet.');
  });

  it('print shows what is in force, as lines or JSON', async () => {
    const environment = { CHAINS: 'eth', API_KEYS: 'very-secret-key' };
    const lines = await runCaptured(['config', 'print'], environment);
    expect(lines.stdout).toContain('API_KEYS=[redacted]  # environment\n');
    const json = await runCaptured(['config', 'print', '--json'], environment);
    expect(JSON.parse(json.stdout)).toMatchObject({ PORT: { value: '8080', origin: 'default' } });
  });

  it('reads the file of --config', async () => {
    const { exitCode, stderr } = await runCaptured(['--config', '/nowhere/x.env', 'config', 'validate']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('/nowhere/x.env');
  });
});

describe('migrate', () => {
  it('applies what is missing once', async () => {
    const empty = await createScratchDatabase({ migrated: false });
    try {
      const first = await runCaptured(['migrate'], { DATABASE_URL: empty.url });
      expect([first.exitCode, first.stdout]).toEqual([0, expect.stringContaining('applied 0000_initial')]);
      const second = await runCaptured(['migrate'], { DATABASE_URL: empty.url });
      expect(second.stdout).toBe('The schema is already up to date.\n');
    } finally {
      await empty.drop();
    }
  });

  it('is what other commands ask for on a database without tables', async () => {
    const empty = await createScratchDatabase({ migrated: false });
    try {
      const { exitCode, stderr } = await runCaptured(['status'], { DATABASE_URL: empty.url });
      expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Run "chainstead migrate"')]);
    } finally {
      await empty.drop();
    }
  });
});

describe('a database that does not answer', () => {
  it('is named without its password', async () => {
    const { exitCode, stderr } = await runCaptured(['status'], {
      DATABASE_URL: 'postgres://u:hunter2@127.0.0.1:1/x',
    });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^chainstead: The database at postgres:\/\/127\.0\.0\.1:1\/\w+ can't be reached: .*\[DATABASE_UNREACHABLE\]\n$/,
    );
    expect(stderr).not.toContain('hunter2');
  });
});

describe('keys', () => {
  it('are made, listed and revoked, and the key itself is shown once', async () => {
    const created = await run('keys', 'create', '--name', 'web shop');
    const key = created.stdout.trim();
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    const listed = await run('keys', 'list');
    expect(listed.stdout).toMatch(new RegExp(`${key.slice(0, 8)}… +web shop +data,rpc,streams +.*active`));
    expect(listed.stdout).not.toContain(key);
    expect((await run('keys', 'revoke', key.slice(0, 8))).stdout).toContain('Revoked');
    expect(JSON.parse((await run('keys', 'list', '--json')).stdout)[0].revokedAt).not.toBeNull();
    expect((await run('keys', 'revoke', 'ffffffff')).exitCode).toBe(1);
  });

  it('are made for some scopes, and narrowed later', async () => {
    const made = await run('keys', 'create', '--name', 'page', '--scope', 'rpc,data', '--scope', 'streams');
    const prefix = made.stdout.slice(0, 8);
    expect((await run('keys', 'list')).stdout).toMatch(new RegExp(`${prefix}… +page +data,rpc,streams +`));
    expect((await run('keys', 'scope', prefix, '--scope', 'rpc')).stdout).toBe(
      `${prefix}… (page) now has the scopes: rpc.\n`,
    );
    expect((await run('keys', 'list')).stdout).toMatch(new RegExp(`${prefix}… +page +rpc +`));
    expect((await run('keys', 'create', '--scope', 'everything')).exitCode).toBe(2);
  });

  it('leave each change in the audit log, with who made it on which machine', async () => {
    const prefix = (await run('keys', 'create', '--name', 'watched')).stdout.slice(0, 8);
    await run('keys', 'scope', prefix, '--scope', 'rpc');
    await run('keys', 'revoke', prefix);
    const lines = await stage.scratch.database.query(
      sql`SELECT door, actor, action, address FROM audit_log WHERE target = ${prefix} ORDER BY id`,
    );
    const by = { door: 'command', actor: expect.stringMatching(/^.+@.+$/), address: null };
    const actions = ['key.create', 'key.scopes', 'key.revoke'];
    expect(lines).toEqual(actions.map((action) => ({ ...by, action })));
  });

  it('show what they called of the gateway, summed up or by day', async () => {
    await stage.scratch.database.query(
      sql`INSERT INTO gateway_usage (key_id, day, chain_id, method, calls, errors, cached, weight, bytes)
       SELECT '0123abcd', (now() AT TIME ZONE 'UTC')::date - ago, 8453, 'eth_call', 5, 1, 2, 10, 700 FROM generate_series(0, 2) AS ago`,
    );
    expect((await run('keys', 'usage')).stdout).toMatch(/^0123abcd +base +eth_call +15 +3 +6 +30 +2,100$/m);
    const days = JSON.parse((await run('keys', 'usage', '--days', '2', '--json')).stdout);
    expect(days).toHaveLength(2);
    expect(days[0]).toMatchObject({ keyId: '0123abcd', chainId: 8453, method: 'eth_call', calls: 5, bytes: 700 });
    expect((await run('keys', 'usage', '--days', 'many')).exitCode).toBe(2);
  });
});

describe('import', () => {
  const list = JSON.stringify({
    name: 'Test list',
    timestamp: '2026-01-01T00:00:00Z',
    version: { major: 1, minor: 0, patch: 0 },
    tokens: [
      {
        chainId: 31337,
        address: `0x${'ab'.repeat(20)}`,
        name: 'Listed',
        symbol: 'LST',
        decimals: 6,
        logoURI: 'https://l.example/x.png',
      },
    ],
  });

  it('takes a file or a URL, and replaces what came from the same source', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chainstead-import-'));
    const path = join(folder, 'list.json');
    await writeFile(path, list);
    const { exitCode, stdout, stderr } = await run('import', 'token-list', path, '--source', 'mine');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(jsonLines(stdout)).toEqual([
      expect.objectContaining({ work: 'import', source: 'mine', rows: 1, finished: true }),
    ]);

    const server = createServer((_request, response) => response.end(list)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      expect((await run('import', 'token-list', `http://127.0.0.1:${port}/`, '--source', 'mine')).exitCode).toBe(
        0,
      );
    } finally {
      server.close();
    }
    const rows = await stage.scratch.database.query(sql`SELECT source, symbol FROM token_list_entries`);
    expect(rows).toEqual([{ source: 'mine', symbol: 'LST' }]);
  });

  it.each([
    [['import', 'recipes', './x.json'], 2, 'Allowed choices are token-list, labels, spam'],
    [['import', 'spam', './x.json', '--chain', 'atlantis'], 2, '--chain atlantis is not a known chain'],
    [['import', 'spam', '/nowhere/x.json'], 1, '[PLACE_UNREADABLE]'],
  ])('refuses %j', async (args, code, message) => {
    const { exitCode, stderr } = await run(...args);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});
