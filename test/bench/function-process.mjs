// The process of one function for the memory figure: the bundle and Node.js, nothing else of the project, and plain
// JavaScript, so that no type stripper counts as memory. Reads events over the IPC channel, answers each with the
// function's answer, the largest memory this process has ever had, in bytes, and what the invocation took: processor time and
// bytes of log.
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

let logBytes = 0;
process.stdout.write = (text) => {
  logBytes += Buffer.byteLength(text);
  return true;
};

const { handler } = await import(pathToFileURL(process.argv[2]).href);

/** Linux counts the parent's memory into a child's `maxRSS`, because it was the child's until the program started. */
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
