/** Counts the bytes written to standard output meanwhile: CloudWatch's input, without the platform's own lines. */
export async function bytesWritten(work: () => Promise<unknown>): Promise<number> {
  const counted = countBytes();
  await work().finally(counted.stop);
  return counted.bytes();
}

/** Counts the bytes of synchronous work. */
export function bytesWrittenNow(work: () => void): number {
  const counted = countBytes();
  try {
    work();
  } finally {
    counted.stop();
  }
  return counted.bytes();
}

function countBytes() {
  const write = process.stdout.write;
  let bytes = 0;
  process.stdout.write = ((text: string | Uint8Array) => {
    bytes += Buffer.byteLength(text);
    return true;
  }) as typeof write;
  return {
    bytes: () => bytes,
    stop: () => {
      process.stdout.write = write;
    },
  };
}
