import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createLogger, redactUrl, silentLogger } from './logger.ts';

function linesOf(
  write: (log: ReturnType<typeof createLogger>) => void,
  names: { readonly role?: string; readonly process?: string } = {},
): Record<string, unknown>[] {
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  write(createLogger({ level: 'info', destination, ...names }));
  return lines.map((line) => JSON.parse(line));
}

describe('createLogger', () => {
  it('writes JSON lines with level by name, ISO time, role and the fields given', () => {
    const [line] = linesOf((logger) => logger.info({ chain: 'eth', block_range: '1-9' }, 'Range stored'), {
      role: 'ingest',
    });
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      role: 'ingest',
      chain: 'eth',
      block_range: '1-9',
      msg: 'Range stored',
    });
  });

  it('names the process where a role has several', () => {
    const [line] = linesOf((logger) => logger.info('Listening'), { role: 'api', process: 'api-2' });
    expect(line).toMatchObject({ role: 'api', process: 'api-2', msg: 'Listening' });
  });

  it('writes an error without the connection that it broke', () => {
    const error = Object.assign(new Error('Connection terminated unexpectedly'), {
      code: 'ECONNRESET',
      client: { x: 1 },
    });
    const [line] = linesOf((logger) => logger.error({ err: error }, 'Lost'));
    expect(line?.err).toEqual({
      type: 'Error',
      message: 'Connection terminated unexpectedly',
      stack: expect.stringContaining('logger.test.ts'),
      code: 'ECONNRESET',
    });
  });

  it('redacts keys, secrets and credentials by their field names', () => {
    const secret = 'swordfish';
    const fields = {
      api_key: secret,
      authorization: secret,
      secret,
      password: secret,
      database_url: secret,
      headers: { 'x-api-key': secret, authorization: secret, accept: 'text/html' },
    };
    const [line] = linesOf((logger) => logger.info(fields, 'Request refused'));
    expect(JSON.stringify(line)).not.toContain(secret);
    expect(line).toMatchObject({ api_key: '[redacted]', headers: { accept: 'text/html' } });
  });

  it('leaves out what is below its level', () => {
    expect(linesOf((logger) => logger.debug('Not shown'))).toEqual([]);
    expect(silentLogger().isLevelEnabled('fatal')).toBe(false);
  });
});

describe('redactUrl', () => {
  it('keeps protocol and host only', () => {
    expect(redactUrl('https://user:key@rpc.example.com:8545/v2/secret?token=secret#secret')).toBe(
      'https://rpc.example.com:8545',
    );
    expect(redactUrl('wss://node.example.com/ws/secret')).toBe('wss://node.example.com');
  });

  it('says nothing of a text that is no URL', () => {
    expect(redactUrl('secret')).toBe('[not a URL]');
    expect(redactUrl('')).toBe('[not a URL]');
  });
});
