// This process holds only the bundle and Node.js, in plain JavaScript, so that no type stripper counts as memory. Each
// event over IPC is answered with the function's answer, peak memory, processor time and bytes of log.
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

let logBytes = 0;
process.stdout.write = (text) => {
  logBytes += Buffer.byteLength(text);
  return true;
};

const { handler } = await import(pathToFileURL(process.argv[2]).href);

/** Linux counts the parent's memory into a child's `maxRSS`, because the child shares it until its program starts. */
function peakBytes() {
  const status = '/proc/self/status';
  const [, kilobytes] = existsSync(status) ? /VmHWM:\s+(\d+) kB/.exec(readFileSync(status, 'utf8')) : [];
  return Number(kilobytes ?? process.resourceUsage().maxRSS) * 1024;
}

process.on('message', async (event) => {
  const before = process.cpuUsage();
  logBytes = 0;
  const answer = await handler(event, { getRemainingTimeInMillis: () => 29_000 });
  const { user, system } = process.cpuUsage(before);
  process.send({ answer, peakBytes: peakBytes(), processorMs: (user + system) / 1_000, logBytes });
});
