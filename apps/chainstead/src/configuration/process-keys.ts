/** The configuration keys of processes: which there are, how many, and how they end. */
import { optional, withDefault } from './key-facts.ts';
import { ROLE_NAMES } from './role-names.ts';
import { listOf, oneOf, plainText, processCount, wholeNumber } from './values.ts';

export const PORT_MAX = 65_535;

export const processKeys = {
  ROLES: withDefault(listOf(oneOf(...ROLE_NAMES)), {
    group: 'Process',
    description: 'Parts of the program that `chainstead start` runs; `--roles` wins over it',
    allowed: `a comma list of ${ROLE_NAMES.join(', ')}`,
    example: 'api,worker',
    default: 'api,ingest,worker',
  }),
  API_PROCESSES: withDefault(processCount, {
    group: 'Process',
    description:
      'Processes of `api` that share its port. auto: one for each processor core. Each has connections to Postgres and memory of its own (docs/scaling.md)',
    allowed: 'auto, or a whole number from 1 to 64',
    example: 'auto',
    default: '1',
  }),
  INGEST_PROCESSES: withDefault(processCount, {
    group: 'Process',
    description:
      'Processes of `ingest` that share the chains, and fill history together: each chain is followed by one of them, and those whose own chains have their history help the others. auto: one for each processor core',
    allowed: 'auto, or a whole number from 1 to 64',
    example: '4',
    default: '1',
  }),
  WORKER_PROCESSES: withDefault(processCount, {
    group: 'Process',
    description: 'Processes of `worker` that share the queues. auto: one for each processor core',
    allowed: 'auto, or a whole number from 1 to 64',
    example: '2',
    default: '1',
  }),
  LOG_LEVEL: withDefault(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    group: 'Process',
    description: 'Least severe level that is logged',
    allowed: 'fatal, error, warn, info, debug, trace or silent',
    example: 'debug',
    default: 'info',
  }),
  STOP_TIMEOUT_MS: withDefault(wholeNumber(100, 600_000), {
    group: 'Process',
    description: 'Milliseconds that a stopping process may take to finish requests and blocks before it is killed',
    allowed: 'a whole number from 100 to 600000',
    example: '30000',
    default: '15000',
  }),
  METRICS_PORT: optional(wholeNumber(0, PORT_MAX), {
    group: 'Process',
    description:
      'Port of /metrics, for all that is started together, and of /health and /ready. /metrics is then on no other port: the one of the API answers 404',
    allowed: 'a whole number from 0 to 65535; 0 takes a free one',
    example: '9464',
    whenAbsent: '/metrics is on the port of the API; without the API no port is opened',
  }),
  METRICS_HOST: optional(plainText, {
    group: 'Process',
    description: 'Address that METRICS_PORT listens on. It needs no API key: METRICS_KEY protects /metrics',
    allowed: 'an IP address or host name of this machine',
    example: '10.0.0.5',
    whenAbsent: 'HOST',
  }),
};
