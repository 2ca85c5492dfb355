import { startSimulator } from './server.ts';

// The simulator runs alone: `PLATFORM_PORT=3001 node infra/simulator/main.ts`. It prints one line when ready and exits
// on SIGTERM or SIGINT.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(0));

const port = Number(process.env['PLATFORM_PORT'] ?? '0');
try {
  const simulator = await startSimulator({ port });
  console.log(`platform ${simulator.url}`);
} catch (error) {
  const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
  console.error(taken ? `port ${port} is taken: set PLATFORM_PORT to another one` : error);
  process.exit(1);
}
