import type { Answer, SimulatorAtRest } from './simulator.ts';

export const demoApp = '500000000000001';

/** Sends bytes to an upload session as the platform requires. */
export async function sendBytes(
  simulator: Pick<SimulatorAtRest, 'url'>,
  upload: {
    readonly id: string;
    readonly offset?: number;
    readonly bytes: Uint8Array;
    readonly authorization?: string;
  },
): Promise<Pick<Answer, 'status' | 'body'>> {
  const reply = await fetch(`${simulator.url}/v25.0/${upload.id}`, {
    method: 'POST',
    headers: {
      authorization: upload.authorization ?? 'OAuth demo-platform-token',
      ...(upload.offset === undefined ? {} : { file_offset: String(upload.offset) }),
    },
    body: upload.bytes,
  });
  return { status: reply.status, body: await reply.json() };
}

/** Uploads a file of this size in one request and returns its handle. */
export async function uploadedHandle(
  simulator: Pick<SimulatorAtRest, 'url'> & { post(path: string, body: unknown): Promise<Pick<Answer, 'body'>> },
  fileType: string,
  length = 1_000,
): Promise<string> {
  const opened = await simulator.post(`${demoApp}/uploads`, { file_length: length, file_type: fileType });
  const { body } = await sendBytes(simulator, { id: opened.body.id, offset: 0, bytes: new Uint8Array(length) });
  return body.h;
}
