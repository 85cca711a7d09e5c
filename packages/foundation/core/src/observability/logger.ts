import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';

export type { Logger } from 'pino';

const SECRETS = [
  ...['api_key', 'authorization', 'headers["x-api-key"]', 'headers.authorization'],
  ...['secret', 'password', 'database_url'],
];

export interface LoggerOptions {
  readonly level: string;
  readonly role?: string;
  readonly process?: string;
  readonly destination?: DestinationStream;
}

/** JSON lines: `time` (ISO 8601), `level`, `role`, `process`, `msg`, and snake_case fields. */
export function createLogger(options: LoggerOptions): Logger {
  const { level, role, process: name } = options;
  const settings = {
    level,
    base: { ...(role !== undefined && { role }), ...(name !== undefined && { process: name }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeFailure },
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRETS, censor: '[redacted]' },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}

/** `pg` attaches the whole client to an error, four kilobytes. */
function describeFailure(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  return Object.fromEntries(Object.entries(stdSerializers.err(thrown)).filter(([name]) => name !== 'client'));
}

export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}

/** Protocol and host, never path, query or credentials. */
export function redactUrl(url: string): string {
  try {
    const parsed = new URL(url);
    return `${parsed.protocol}//${parsed.host}`;
  } catch {
    return '[not a URL]';
  }
}
