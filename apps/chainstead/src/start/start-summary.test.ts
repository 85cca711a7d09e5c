import { describe, expect, it } from 'vitest';
import { environmentSource, parseConfiguration } from '../configuration/index.ts';
import { slotsOf } from '../shares/role-slot.ts';
import { chainFindings, networkFindings, renderStartSummary } from './start-summary.ts';

type Survey = Parameters<typeof chainFindings>[1];

const summary = (
  environment: Record<string, string>,
  surveys: Readonly<Record<string, Survey>> = {},
  adminKeyFile: string | null = null,
  needsKey = environment.API_KEYS !== undefined,
) => {
  const { configuration } = parseConfiguration([environmentSource(environment)]);
  return renderStartSummary({
    configuration,
    storage: {
      isEmbedded: configuration.database.url === null,
      url: configuration.database.url ?? 'postgres://chainstead:hunter2@127.0.0.1:4711/chainstead',
    },
    slots: slotsOf(configuration, configuration.roles, 4),
    ready: [{ role: 'api', address: 'http://127.0.0.1:8080' }],
    metrics: configuration.metrics.port === null ? null : `http://127.0.0.1:${configuration.metrics.port}`,
    findings: [
      ...configuration.chains.flatMap((one) =>
        foundOf(surveys[one.chain.key], (survey) => chainFindings(one, survey)),
      ),
      ...configuration.aptos.networks.flatMap((one) =>
        foundOf(surveys.aptos, (survey) => networkFindings(one, survey)),
      ),
    ],
    adminKeyFile,
    needsKey,
  });
};

function foundOf<T>(survey: Survey | undefined, find: (survey: Survey) => T[]): T[] {
  return survey === undefined ? [] : find(survey);
}

describe('start summary', () => {
  it('tells a newcomer where to look and what to set', () => {
    const text = summary({});
    expect(text).toContain('http://127.0.0.1:8080/docs');
    expect(text).toContain('postgres://chainstead@127.0.0.1:4711/chainstead, password in .chainstead/password');
    expect(text).toContain('Chains    none: set CHAINS');
    expect(text).toContain('the API is open to this machine only');
    expect(text).not.toContain('hunter2');
  });

  it('tells where the console is, and the file of the key that this start has made for it', () => {
    expect(summary({})).toContain('  Console   http://127.0.0.1:8080/console, with a key of the scope admin\n');
    expect(summary({}, {}, '/data/console-key')).toContain('/console, with the key in /data/console-key\n');
  });

  it('tells how many processes a role has, where it has several', () => {
    expect(summary({})).toContain('Chainstead runs: api, ingest, worker\n');
    expect(summary({ ROLES: 'api:auto,ingest,worker' })).toContain(
      'Chainstead runs: api (4 processes), ingest, worker\n',
    );
  });

  it('says where metrics are once they have a port of their own', () => {
    expect(summary({ METRICS_PORT: '9464' })).toContain(
      '  Metrics   http://127.0.0.1:9464/metrics, without a key\n',
    );
  });

  it('says with what metrics are read on the port of the API, and when they are closed', () => {
    expect(summary({})).toContain('  Metrics   http://127.0.0.1:8080/metrics, without a key\n');
    expect(summary({ HOST: '0.0.0.0' })).toContain('  Metrics   closed, ');
    expect(summary({ HOST: '0.0.0.0' })).toContain('set METRICS_KEY or METRICS_PORT\n');
    expect(summary({ HOST: '0.0.0.0', METRICS_KEY: 'hunter2-hunter2' })).toContain(
      '/metrics, with METRICS_KEY\n',
    );
  });

  it('notes that no key is needed only while there is none, configured or stored', () => {
    expect(summary({}, {}, null, false)).toContain('this machine only');
    expect(summary({}, {}, null, true)).not.toContain('this machine only');
  });

  it('names chains, history, proof and upstreams without their secrets', () => {
    const text = summary({
      CHAINS: 'eth,base',
      RPC_URLS_ETH: 'https://a.example/v2/hunter2',
      START_BLOCK_ETH: '18000000',
      BACKFILL_PROOF_ETH: 'receipts',
      DATABASE_URL: 'postgres://u:hunter2@db:5432/x',
      API_KEYS: 'hunter2-hunter2',
    });
    expect(text).toContain(
      'eth (1): indexed from 18000000; head proven (strict), backfill proven before it is served; https://a.example',
    );
    expect(text).toMatch(/base \(8453\): indexed from the head at the first start; .*public nodes/);
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('this machine only');
  });

  it('names the networks of Aptos, and asks for no chain beside them', () => {
    const text = summary({
      APTOS_NODE_URL: 'https://a.example/v1?key=hunter2,https://b.example',
      APTOS_API_KEY: 'hunter2',
      APTOS_START_VERSION: '0',
      APTOS_DATASETS: 'coins,holders',
    });
    expect(text).toContain(
      'Aptos     aptos: indexed from 0; coins, holders; https://a.example, https://b.example',
    );
    expect(text).not.toContain('set CHAINS');
    expect(text).not.toContain('hunter2');
  });

  it('names the chains of the gateway, and asks for none to index beside them', () => {
    const text = summary({ GATEWAY_CHAINS: 'eth,base', RPC_URLS_ETH: 'https://a.example/v2/hunter2' });
    expect(text).toContain('Gateway   http://127.0.0.1:8080/{chain}/{key}: eth, base\n');
    expect(text).not.toContain('set CHAINS');
    expect(text).not.toContain('hunter2');
    expect(summary({ GATEWAY_CHAINS: 'all' })).toMatch(/Gateway .*: (?:[a-z-]+, ){7}[a-z-]+ and \d+ more\n/);
    expect(summary({})).not.toContain('Gateway');
  });

  it('says of each chain why it can’t be indexed, and which key to look at', () => {
    const text = summary(
      {
        CHAINS: 'ethereum,base,polygon',
        RPC_URLS_ETHEREUM: 'http://127.0.0.1:9/hunter2',
        RPC_URLS_BASE: 'http://127.0.0.1:10,http://127.0.0.1:11',
        START_BLOCK_BASE: '101',
        APTOS_NODE_URL: 'http://127.0.0.1:12',
        APTOS_START_VERSION: '6',
      },
      {
        eth: { head: null, failure: '127.0.0.1:9: connection: refused', unusable: [] },
        base: { head: 100, failure: null, unusable: [{ name: '127.0.0.1:11', reason: 'wrong chain' }] },
        polygon: { head: null, failure: 'x: timeout', unusable: [] },
        aptos: { head: 5, failure: null, unusable: [] },
      },
    );
    expect(text).toMatch(
      /^ {2}BAD +eth +no usable node: 127\.0\.0\.1:9: connection: refused\n.*retries.*\n +Check RPC_URLS_ETHEREUM\.$/m,
    );
    expect(text).toMatch(/^ {2}WARNING +base +127\.0\.0\.1:11 is not used: wrong chain$/m);
    expect(text).toMatch(/^ {2}BAD +base +START_BLOCK_BASE is 101, above the head 100$/m);
    expect(text).toMatch(
      /^ {2}BAD +polygon +no usable node: x: timeout\n.*\n +Set RPC_URLS_POLYGON to your own node\.$/m,
    );
    expect(text).toMatch(/^ {2}BAD +aptos +APTOS_START_VERSION is 6, above the head 5$/m);
    expect(text).not.toContain('hunter2');
  });

  it('warns when strangers’ URLs may reach private networks', () => {
    expect(summary({ WEBHOOK_ALLOW_PRIVATE: '10.0.0.0/8' })).toContain('may reach private networks: 10.0.0.0/8');
    expect(summary({})).not.toContain('private networks');
  });
});
