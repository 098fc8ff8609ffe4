/** A task that a provider started, and what it says that the task costs. */
export interface BoughtTask {
  taskId: string;
  credits?: number | undefined;
}
