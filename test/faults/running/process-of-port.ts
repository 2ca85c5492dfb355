import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Other systems do not say in files which process has a connection. */
export const knowsProcesses = process.platform === 'linux';

const inodeColumn = 9;

/** Returns which of these processes calls from that port of 127.0.0.1. */
export function processOfPort(port: number, pids: readonly number[]): number | undefined {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const connections = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, address]) => address === local)
    .map((columns) => `socket:[${columns[inodeColumn]}]`);
  return pids.find((pid) => filesOf(pid).some((file) => connections.includes(file)));
}

/** A process may end meanwhile. */
function filesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((name) => readlinkSync(`/proc/${pid}/fd/${name}`));
  } catch {
    return [];
  }
}
