/** Repeats work, but never beside itself: while commits wait for a replica, its sessions would use up PostgreSQL's connections. */
export function repeat(work: () => Promise<void>, milliseconds: number): NodeJS.Timeout {
  let isRunning = false;
  return setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    await work().finally(() => {
      isRunning = false;
    });
  }, milliseconds);
}
