import { Worker } from 'node:worker_threads';
const w = new Worker(new URL('./one.tmp.ts', import.meta.url), { argv: process.argv.slice(2), execArgv: ['--cpu-prof', '--cpu-prof-dir=/tmp/prof', '--cpu-prof-interval=5000'] });
setTimeout(async () => { await w.terminate(); }, 6000);
