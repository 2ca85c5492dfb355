import { describe, expect, it } from 'vitest';
import { Parts } from '../../../infra/local/stack-parts.ts';

function recorder() {
  const stopped: string[] = [];
  const part = (name: string) => async () => ({
    stop: async () => {
      await Promise.resolve();
      stopped.push(name);
    },
  });
  return { stopped, part };
}

describe('ending the stack', () => {
  it('stops the parts that accept work, then the workers, then the servers that they call', async () => {
    const { stopped, part } = recorder();
    const parts = new Parts();
    await parts.start('servers', part('database'));
    await parts.start('functions', part('runner'));
    await parts.start('intake', part('gateway'));
    await parts.start('servers', part('simulator'));
    await parts.end();
    expect(stopped).toEqual(['gateway', 'runner', 'database', 'simulator']);
  });

  it('happens once for any number of requests', async () => {
    const { stopped, part } = recorder();
    const parts = new Parts();
    await parts.start('servers', part('database'));
    await Promise.all([parts.end(), parts.end()]);
    await parts.end();
    expect(stopped).toEqual(['database']);
  });

  it('goes on when a part cannot be stopped', async () => {
    const { stopped, part } = recorder();
    const parts = new Parts();
    await parts.start('intake', async () => ({ stop: () => Promise.reject(new Error('stuck')) }));
    await parts.start('servers', part('database'));
    await parts.end();
    expect(stopped).toEqual(['database']);
  });

  it('aborts what is still starting, and stops what becomes ready all the same', async () => {
    const { stopped, part } = recorder();
    const parts = new Parts();
    const aborted: string[] = [];
    const giving = parts.start('servers', (signal) => {
      const { promise, reject } = Promise.withResolvers<never>();
      signal.addEventListener('abort', () => {
        aborted.push('gives up');
        reject(new Error('aborted'));
      });
      return promise;
    });
    const late = parts.start('servers', async (signal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      return part('late')();
    });
    const [, refused] = await Promise.all([parts.end(), giving.catch((error: Error) => error.message), late]);
    expect({ aborted, refused, stopped }).toEqual({ aborted: ['gives up'], refused: 'aborted', stopped: ['late'] });
  });

  it('leaves the signal of what has started alone', async () => {
    const parts = new Parts();
    let given: AbortSignal | undefined;
    await parts.start('servers', async (signal) => {
      given = signal;
      return { stop: async () => undefined };
    });
    await parts.end();
    expect(given?.aborted).toBe(false);
  });

  it('lets nothing start afterwards', async () => {
    const { stopped, part } = recorder();
    const parts = new Parts();
    await parts.end();
    expect(parts.ending).toBe(true);
    await expect(parts.start('servers', part('database'))).rejects.toThrow('the stack is stopping');
    expect(stopped).toEqual([]);
  });
});
