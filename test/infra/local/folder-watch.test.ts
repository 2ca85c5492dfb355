import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchFolder } from '../../../infra/local/folder-watch.ts';

/** Watches a folder that contains `deep/file.ts`. `noticed` changes it and waits for the report. */
function watched() {
  const folder = mkdtempSync(join(tmpdir(), 'folder-watch-'));
  mkdirSync(join(folder, 'deep'));
  const file = join(folder, 'deep', 'file.ts');
  writeFileSync(file, 'first');
  const onChange = vi.fn();
  const watcher = watchFolder(folder, onChange);
  onTestFinished(() => {
    watcher.close();
    rmSync(folder, { recursive: true });
  });
  const noticed = async (change: () => void) => {
    await settled(onChange);
    onChange.mockClear();
    change();
    await vi.waitFor(() => expect(onChange).toHaveBeenCalled(), 10_000);
  };
  return { folder, file, noticed };
}

/** Waits until no more reports come, because one change causes several. */
async function settled(onChange: { readonly mock: { readonly calls: readonly unknown[] } }): Promise<void> {
  for (let before = -1; before !== onChange.mock.calls.length; ) {
    before = onChange.mock.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('a file that was replaced is still seen when it is saved', async () => {
  const { file, noticed } = watched();
  await noticed(() => appendFileSync(file, 'second'));
  for (const text of ['third', 'fourth']) {
    await noticed(() => {
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    });
    await noticed(() => appendFileSync(file, 'more'));
  }
});

test('a folder created later is watched, also after it was deleted and created again', async () => {
  const { folder, noticed } = watched();
  await noticed(() => mkdirSync(join(folder, 'later')));
  await noticed(() => writeFileSync(join(folder, 'later', 'file.ts'), 'first'));
  await noticed(() => rmSync(join(folder, 'later'), { recursive: true }));
  await noticed(() => mkdirSync(join(folder, 'later')));
  await noticed(() => writeFileSync(join(folder, 'later', 'file.ts'), 'first'));
});
