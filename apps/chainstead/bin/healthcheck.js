// For the container's HEALTHCHECK: asks /health of this process group, on the API's port or on METRICS_PORT.
const ports = [process.env.PORT ?? '8080', process.env.METRICS_PORT].filter(Boolean);
const answers = await Promise.allSettled(
  ports.map((port) => fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(4_000) })),
);
process.exit(answers.some((answer) => answer.status === 'fulfilled' && answer.value.ok) ? 0 : 1);
