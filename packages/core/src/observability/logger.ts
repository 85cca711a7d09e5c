import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';

export type { Logger } from 'pino';

export interface LoggerOptions {
  readonly level: string;
  /** Role of the program that writes (`api`, `ingest`, `worker`, …). */
  readonly role?: string;
  /** Process of the role, if there are several (`api-2`). */
  readonly process?: string;
  readonly destination?: DestinationStream;
}

/**
 * Creates a logger of JSON lines with stable snake_case fields: `time` (ISO 8601), `level`, `role`, `process`, `msg`,
 * and the caller's fields.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { level, role, process: name } = options;
  const settings = {
    level,
    base: { ...(role !== undefined && { role }), ...(name !== undefined && { process: name }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeFailure },
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: [
        'api_key',
        'authorization',
        'headers["x-api-key"]',
        'headers.authorization',
        'secret',
        'password',
        'database_url',
      ],
      censor: '[redacted]',
    },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}

/**
 * Describes an error without its connection: `pg` attaches the whole client to it, four kilobytes without useful
 * information.
 */
function describeFailure(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) return thrown;
  return Object.fromEntries(Object.entries(stdSerializers.err(thrown)).filter(([name]) => name !== 'client'));
}

/** Returns a logger that writes nothing, for tests and one-shot commands. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' });
}

/** Returns a URL for logs, metrics and status: protocol and host, never path, query or credentials. */
export function redactUrl(url: string): string {
  try {
    const parsed = new URL(url);
    return `${parsed.protocol}//${parsed.host}`;
  } catch {
    return '[not a URL]';
  }
}
