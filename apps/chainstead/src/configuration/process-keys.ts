import { keysOf } from './key-facts.ts';
import { ROLE_NAMES } from './role-names.ts';
import { listOf, oneOf, plainText, processCount, wholeNumber } from './values.ts';

const { optional, withDefault } = keysOf('Process');

export const PORT_MAX = 65_535;

export const processKeys = {
  ROLES: withDefault(listOf(oneOf(...ROLE_NAMES)), {
    description: 'Roles that `chainstead start` runs. `--roles` wins over it',
    allowed: `a comma list of ${ROLE_NAMES.join(', ')}`,
    example: 'api,worker',
    default: 'api,ingest,worker',
  }),
  API_PROCESSES: withDefault(processCount, {
    description:
      'Number of `api` processes that share its port. auto: one per CPU core. Each has its own memory and Postgres connections (docs/operate/scale.md)',
    example: 'auto',
    default: '1',
  }),
  INGEST_PROCESSES: withDefault(processCount, {
    description:
      'Number of `ingest` processes. One of them follows each chain. After the backfill of its chains, a process helps the others. auto: one per CPU core',
    example: '4',
    default: '1',
  }),
  WORKER_PROCESSES: withDefault(processCount, {
    description: 'Number of `worker` processes that share the queues. auto: one per CPU core',
    example: '2',
    default: '1',
  }),
  LOG_LEVEL: withDefault(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    description: 'Minimum severity of log lines',
    allowed: 'fatal, error, warn, info, debug, trace or silent',
    example: 'debug',
    default: 'info',
  }),
  METRICS_PORT: optional(wholeNumber(0, PORT_MAX), {
    description:
      'Port of /metrics for all processes of one start, and of /health and /ready. The API port then returns 404 for /metrics',
    allowed: 'a whole number from 0 to 65535; 0 selects a free port',
    example: '9464',
    whenAbsent: '/metrics is on the API port; without the API, no port is opened',
  }),
  METRICS_HOST: optional(plainText, {
    description: 'Address that METRICS_PORT listens on. It requires no API key. METRICS_KEY protects /metrics',
    allowed: 'an IP address or host name of this machine',
    example: '10.0.0.5',
    whenAbsent: 'HOST',
  }),
};
