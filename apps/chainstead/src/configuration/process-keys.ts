import { keysOf } from './key-facts.ts';
import { ROLE_NAMES } from './role-names.ts';
import { oneOf, plainText, roleList, wholeNumber } from './values.ts';

const { optional, withDefault } = keysOf('Process');

export const PORT_MAX = 65_535;

export const processKeys = {
  ROLES: withDefault(roleList, {
    description:
      'Roles that `chainstead start` runs, each with its number of processes: 1 without a number, with auto one per CPU core. `--roles` wins over it',
    allowed: `a comma list of ${ROLE_NAMES.join(', ')}, or of role:processes, from 1 to 64 or auto`,
    example: 'api:auto,ingest:2,worker',
    default: 'api,ingest,worker',
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
  METRICS_HOST: withDefault(plainText, {
    description: 'Address that METRICS_PORT listens on. It requires no API key. METRICS_KEY protects /metrics',
    allowed: 'an IP address or host name of this machine',
    example: '10.0.0.5',
    default: '127.0.0.1',
  }),
};
