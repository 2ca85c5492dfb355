/** The worker no longer holds the lock. It must stop; the next holder goes on. */
export class SyncLockLost extends Error {
  constructor() {
    super('the synchronization lock is held by another run or was released');
    this.name = 'SyncLockLost';
  }
}
