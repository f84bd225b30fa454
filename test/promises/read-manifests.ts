// What the rendered objects of an overlay mean: their pods, and who reaches whom.

type Labels = Record<string, string>;

interface SecurityContext {
  runAsUser?: number;
  runAsNonRoot?: boolean;
  readOnlyRootFilesystem?: boolean;
  allowPrivilegeEscalation?: boolean;
  privileged?: boolean;
  capabilities?: { drop?: string[]; add?: string[] };
  seccompProfile?: { type: string };
}

export interface Probe {
  httpGet?: { path: string; port: string };
  tcpSocket?: { port: string };
}

export interface Container {
  name: string;
  env?: { name: string; value?: string; valueFrom?: Record<string, { key?: string }> }[];
  args?: string[];
  ports?: { name?: string; containerPort: number }[];
  volumeMounts?: { mountPath: string; readOnly?: boolean }[];
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  securityContext?: SecurityContext;
  resources?: { limits?: { memory?: string } };
}

export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  securityContext?: SecurityContext;
  containers: Container[];
  initContainers?: Container[];
  terminationGracePeriodSeconds?: number;
  volumes?: {
    name: string;
    hostPath?: object;
    emptyDir?: object;
    secret?: { secretName: string; defaultMode?: number };
  }[];
}

interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}

interface NetworkRule {
  from?: Peer[];
  to?: Peer[];
  ports?: { protocol: string; port: number }[];
}

interface NetworkPolicy {
  podSelector: Selector;
  policyTypes: string[];
  ingress?: NetworkRule[];
  egress?: NetworkRule[];
}

export interface Manifest {
  kind: string;
  metadata: { name: string; labels?: Labels };
  data?: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another.
  spec?: any;
}

interface Pod {
  name: string;
  labels: Labels;
  spec: PodSpec;
}

/** The pods of deployments and jobs. */
export const listPods = (manifests: Manifest[]): Pod[] =>
  manifests
    .filter(({ kind }) => kind === "Deployment" || kind === "Job")
    .map(({ metadata, spec: { template } }) => ({
      name: metadata.name,
      labels: template.metadata.labels,
      spec: template.spec,
    }));

/** The environment of a pod's containers: values, or where they come from, such as `configMapKeyRef CONTACT`. */
export const readEnvironment = ({ containers, initContainers = [] }: PodSpec): Record<string, string> =>
  Object.fromEntries(
    [...containers, ...initContainers].flatMap(({ env = [] }) =>
      env.map(({ name, value, valueFrom = {} }) => [
        name,
        value ??
          Object.entries(valueFrom)
            .flatMap(([from, { key }]) => [from, key])
            .join(" "),
      ]),
    ),
  );

/** The pods that CloudNativePG makes of a Cluster: PostgreSQL, the instance manager's status, and metrics. */
const listDatabasePods = (manifests: Manifest[]): Pod[] =>
  manifests
    .filter(({ kind }) => kind === "Cluster")
    .map(({ metadata: { name }, spec }) => ({
      name,
      labels: { "cnpg.io/cluster": name, ...spec.inheritedMetadata?.labels },
      spec: {
        containers: [{ name, ports: [5432, 8000, 9187].map((containerPort) => ({ containerPort })) }],
      },
    }));

function isSelected(labels: Labels, { matchLabels = {}, matchExpressions = [] }: Selector): boolean {
  const isMatch = ({ key, operator, values = [] }: NonNullable<Selector["matchExpressions"]>[number]) => {
    if (operator === "Exists") return key in labels;
    if (operator === "In") return values.includes(labels[key] ?? "");
    throw new Error(`The selector's operator ${operator} is unknown here.`);
  };
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(isMatch)
  );
}

/** The names of the pods that a selector selects. */
export const findPods = (manifests: Manifest[], selector: Selector): string[] =>
  listPods(manifests).flatMap(({ name, labels }) => (isSelected(labels, selector) ? [name] : []));

/** What a rule's peer is called, if it is not a pod of the same namespace. */
function nameOutside({ namespaceSelector, ipBlock }: Peer): string | undefined {
  if (ipBlock !== undefined) return [ipBlock.cidr, ...(ipBlock.except ?? [])].join(" except ");
  if (namespaceSelector === undefined) return undefined;
  const labels = Object.entries(namespaceSelector.matchLabels ?? {}).map((label) => label.join("="));
  return labels.length === 0 ? "every namespace" : `namespaces ${labels.join()}`;
}

/**
 * Lists for each pod, and for each outside peer, what it can reach: both the sender's and the receiver's policies must
 * allow it. Of a pod, only the ports that it listens on count.
 */
export function listReachable(manifests: Manifest[]): Record<string, string[]> {
  const pods = [...listPods(manifests), ...listDatabasePods(manifests)];
  const policies: NetworkPolicy[] = manifests
    .filter(({ kind }) => kind === "NetworkPolicy")
    .map(({ spec }) => spec);
  const findRules = ({ labels }: Pod, direction: "Ingress" | "Egress"): NetworkRule[] => {
    const bound = policies.filter(
      ({ podSelector, policyTypes }) => policyTypes.includes(direction) && isSelected(labels, podSelector),
    );
    // Without a policy, everything is allowed.
    if (bound.length === 0) return [{}];
    return bound.flatMap(({ ingress, egress }) => (direction === "Ingress" ? ingress : egress) ?? []);
  };
  const isFor = ({ from, to }: NetworkRule, { labels }: Pod) =>
    (from ?? to)?.some(
      (peer) => nameOutside(peer) === undefined && isSelected(labels, peer.podSelector ?? {}),
    ) ?? true;
  const hasPort = ({ ports }: NetworkRule, wanted: number) =>
    ports?.some(({ protocol, port }) => protocol === "TCP" && port === wanted) ?? true;
  const listOutside = ({ from, to }: NetworkRule) =>
    (from ?? to)?.flatMap((peer) => nameOutside(peer) ?? []) ?? ["anywhere"];

  const reached = new Map<string, Set<string>>();
  const add = (sender: string, receiver: string) =>
    reached.set(sender, (reached.get(sender) ?? new Set()).add(receiver));
  for (const pod of pods) {
    const listening = pod.spec.containers.flatMap(({ ports = [] }) => ports.map((it) => it.containerPort));
    for (const port of listening) {
      const rules = findRules(pod, "Ingress").filter((rule) => hasPort(rule, port));
      for (const outside of rules.flatMap(listOutside)) add(outside, `${pod.name}:${port}`);
      for (const sender of pods) {
        const allows = (rule: NetworkRule) => isFor(rule, pod) && hasPort(rule, port);
        if (rules.some((rule) => isFor(rule, sender)) && findRules(sender, "Egress").some(allows))
          add(sender.name, `${pod.name}:${port}`);
      }
    }
    for (const rule of findRules(pod, "Egress")) {
      const ports = rule.ports?.map(({ protocol, port }) => `${protocol} ${port}`) ?? ["every port"];
      for (const outside of listOutside(rule)) for (const port of ports) add(pod.name, `${outside}, ${port}`);
    }
  }
  return Object.fromEntries([...reached].map(([sender, receivers]) => [sender, [...receivers].sort()]));
}

/** Lists what the pods' containers may do beyond the restricted Pod Security Standard and a read-only root. */
export function listPrivileges(manifests: Manifest[]): string[] {
  return listPods(manifests).flatMap(({ name, spec }) => {
    const { containers, initContainers = [], volumes = [] } = spec;
    const shared = {
      "token of its service account": spec.automountServiceAccountToken !== false,
      "names of other services in its environment": spec.enableServiceLinks !== false,
      "the host's namespaces": Boolean(spec.hostNetwork || spec.hostPID || spec.hostIPC),
      "the host's files": volumes.some(({ hostPath }) => hostPath !== undefined),
    };
    const own = [...containers, ...initContainers].flatMap((container) => {
      const context = { ...spec.securityContext, ...container.securityContext };
      const { capabilities, seccompProfile } = context;
      return listTrue(`${name}/${container.name}`, {
        "root's user ID": !context.runAsUser,
        root: context.runAsNonRoot !== true,
        "a writable root": context.readOnlyRootFilesystem !== true,
        "more privileges": context.allowPrivilegeEscalation !== false || context.privileged === true,
        capabilities: capabilities?.drop?.join() !== "ALL" || capabilities.add !== undefined,
        "every system call": seccompProfile?.type !== "RuntimeDefault",
      });
    });
    return [...listTrue(name, shared), ...own];
  });
}

const listTrue = (name: string, facts: Record<string, boolean>) =>
  Object.entries(facts).flatMap(([fact, isTrue]) => (isTrue ? [`${name}: ${fact}`] : []));
