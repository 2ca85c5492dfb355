// The process of one function for the memory figure: the bundle and Node.js, nothing else of the project, and plain
// JavaScript, so that no type stripper counts as memory. Reads events over the IPC channel, answers each with the
// function's answer and the largest memory this process has ever had, in bytes.
import { pathToFileURL } from 'node:url';

const { handler } = await import(pathToFileURL(process.argv[2]).href);

process.on('message', async (event) => {
  const answer = await handler(event, { getRemainingTimeInMillis: () => 29_000 });
  process.send({ answer, peakBytes: process.resourceUsage().maxRSS * 1024 });
});
