import {
  ActionIcon,
  Alert,
  Button,
  Group,
  Menu,
  Paper,
  SegmentedControl,
  Text,
  Tooltip,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Cable, Plus, Redo2, Undo2, Wand2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { Workflow } from '../../../api/queries/automation/workflow'
import { taskNamesQuery, workflowNamesQuery } from '../../../api/queries/names'
import { useKeys } from '../../../app/keys'
import { useCan } from '../../../app/session'
import { EditConflict } from '../../../ui/editConflict/EditConflict'
import { DiffView } from '../../../ui/editor/DiffView'
import { UnsavedChanges } from '../../../ui/form/UnsavedChanges'
import { FlowTable } from '../../../ui/graph/FlowTable'
import { FlowView } from '../../../ui/graph/FlowView'
import {
  type Draft,
  type Edge,
  faultOf,
  isEndless,
  ROUNDS,
  type Runs,
  sameEdge,
  textOf,
  unreachableNodes,
  withBound,
  withCopy,
  withEdge,
  withName,
  withNode,
  withoutEdge,
  withoutNode,
  withPlaces,
} from '../../../ui/graph/graphDraft'
import { freePlace } from '../../../ui/graph/layout'
import { draftOf } from '../../../ui/graph/RunGraph'
import { useUndo } from '../../../ui/graph/undo'
import { useWords } from '../../../ui/text'
import { showError } from '../../../ui/toast'
import { useSaveWorkflow } from '../detail/useWorkflowForm'
import { useText } from '../text'
import { ConnectDialog } from './ConnectDialog'
import { NewTaskDialog } from './NewTaskDialog'
import { EdgePanel, StepPanel } from './SelectionPanels'
import { STEP_NAME_ID } from './StepName'
import { StepPicker } from './StepPicker'

interface Props {
  workflow: Workflow
  isTable: boolean
  onTable: (isTable: boolean) => void
  onLeave: () => void
}

/** The graph under the pen, by mouse or by keyboard alone. */
export function WorkflowEditor({ workflow, isTable, onTable, onLeave }: Props) {
  const t = useText()
  const w = useWords()
  const draft = useUndo<Draft>(draftOf(workflow))
  const [began, setBegan] = useState({ workflow, graph: draft.now })
  const [step, setStep] = useState<string | null>(null)
  const [edge, setEdge] = useState<Edge | null>(null)
  const [adding, setAdding] = useState<'task' | 'new' | null>(null)
  // The step that the new one follows.
  const [after, setAfter] = useState<string | null>(null)
  const [connecting, setConnecting] = useState(false)
  const { data: tasks = [] } = useQuery(taskNamesQuery)
  const { data: all = [] } = useQuery(workflowNamesQuery)
  const mayCreate = useCan()('task.edit')
  // A workflow cannot run itself; longer circles are refused when it is saved.
  const workflows = all.filter((other) => other.id !== workflow.id)
  const isChanged = draft.now !== began.graph
  const isOlder = workflow.version > began.workflow.version
  const differs = isOlder && textOf(draftOf(workflow)) !== textOf(draftOf(began.workflow))
  const isTheirs = textOf(draft.now) === textOf(draftOf(workflow))
  const theirs = isChanged && differs && !isTheirs ? workflow : null
  const start = (from: Workflow) => {
    const graph = draftOf(from)
    draft.reset(graph)
    setBegan({ workflow: from, graph })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a newer version counts
  useEffect(() => {
    if (!isChanged && differs) start(workflow)
  }, [workflow.version])
  const save = useSaveWorkflow()
  const send = () => {
    const graph = draft.now
    const { start, nodes, edges } = graph
    // A newer version with the same graph is nothing to ask about.
    const base = differs ? began.workflow : workflow
    save.mutate(
      { base, body: { start, graph: { nodes, edges } } },
      { onSuccess: (next) => setBegan({ workflow: next, graph }) },
    )
  }
  const settle = (keep: boolean) => {
    if (keep) setBegan({ workflow, graph: draftOf(workflow) })
    else start(workflow)
    save.reset()
  }
  const connect = (next: Edge) => {
    const fault = faultOf(draft.now, next)
    if (fault) showError(new Error(t.faults[fault]))
    else draft.set(withEdge(draft.now, next))
    return fault === null
  }
  const openPicker = (previous: string | null) => {
    setAfter(previous)
    setAdding('task')
  }
  const addStep = (runs: Runs) => {
    const place = freePlace(draft.now, after ?? step)
    const grown = withNode(draft.now, runs, place)
    const id = grown.nodes.at(-1)!.id
    draft.set(after ? withEdge(grown, { source: after, target: id, on: 'success' }) : grown)
    setAdding(null)
    pick(id)
  }
  const copyStep = (id: string) => {
    const next = withCopy(draft.now, id, freePlace(draft.now, id))
    draft.set(next)
    pick(next.nodes.at(-1)!.id)
  }
  const nameStep = (id: string, name: string) => {
    draft.set(withName(draft.now, id, name))
    pick(name)
  }
  const lonely = unreachableNodes(draft.now)
  const maySave = isChanged && draft.now.nodes.length > 0 && lonely.length === 0
  useKeys({
    'mod+s': () => maySave && send(),
    'mod+z': draft.undo,
    'mod+Shift+z': draft.redo,
    'mod+d': () => chosen && copyStep(chosen.id),
    F2: () => document.getElementById(STEP_NAME_ID)?.focus(),
  })
  const names = new Map([
    ...tasks.map((task) => [task.id, { name: task.name, detail: task.detail }] as const),
    ...workflows.map((other) => [other.id, { name: other.name, detail: '' }] as const),
  ])
  const chosen = draft.now.nodes.find((node) => node.id === step)
  // Undo or the Delete key may have removed it.
  const chosenEdge = edge && draft.now.edges.find((other) => sameEdge(other, edge))
  const pick = (node: string | null) => {
    setStep(node)
    setEdge(null)
  }
  const choose = (next: Edge) => {
    setStep(null)
    setEdge(next)
  }
  return (
    <Paper withBorder className="flow-board">
      <UnsavedChanges when={isChanged} />
      <Group className="head" wrap="wrap">
        <Button variant="default" leftSection={<Plus size={14} />} onClick={() => openPicker(null)}>
          {t.addStep}
        </Button>
        <Button
          variant="default"
          leftSection={<Cable size={14} />}
          disabled={draft.now.nodes.length < 1}
          onClick={() => setConnecting(true)}
        >
          {t.connect}
        </Button>
        <Tool label={t.undo} icon={Undo2} disabled={!draft.canUndo} onClick={draft.undo} />
        <Tool label={t.redo} icon={Redo2} disabled={!draft.canRedo} onClick={draft.redo} />
        <Tool
          label={t.layout}
          icon={Wand2}
          disabled={!draft.now.nodes.some((node) => node.position)}
          onClick={() =>
            draft.set({
              ...draft.now,
              nodes: draft.now.nodes.map(({ position: _, ...node }) => node),
            })
          }
        />
        <SegmentedControl
          size="xs"
          aria-label={t.tabs.graph}
          value={isTable ? 'table' : 'graph'}
          onChange={(value) => onTable(value === 'table')}
          data={[
            { value: 'graph', label: t.graph },
            { value: 'table', label: t.table },
          ]}
        />
        <Group ml="auto" gap={8}>
          {isChanged ? <Text size="xs">{t.unsaved}</Text> : null}
          <Button variant="default" onClick={onLeave}>
            {t.stopEditing}
          </Button>
          <Button disabled={!maySave} loading={save.isPending} onClick={send}>
            {w.save}
          </Button>
        </Group>
      </Group>
      {theirs ? (
        <EditConflict
          object="workflow"
          id={workflow.id}
          version={theirs.version}
          error={save.error}
          onTake={() => settle(false)}
          onKeep={() => settle(true)}
        >
          <DiffView
            before={textOf(draftOf(began.workflow))}
            after={textOf(draftOf(theirs))}
            label={t.tabs.graph}
          />
        </EditConflict>
      ) : null}
      {lonely.length ? (
        <Alert color="yellow" p="xs">
          {t.unreached(lonely.join(', '))}
        </Alert>
      ) : null}
      <div className="flow-frame" data-panel="true">
        {isTable ? (
          <FlowTable
            draft={draft.now}
            tasks={names}
            actions={(node) => (
              <RowMenu
                onEdit={() => pick(node)}
                onCopy={() => copyStep(node)}
                onRemove={() => draft.set(withoutNode(draft.now, node))}
              />
            )}
          />
        ) : (
          <FlowView
            draft={draft.now}
            tasks={names}
            selected={step}
            selectedEdge={edge}
            onSelect={pick}
            onEdge={choose}
            onConnect={(source, target) => {
              const next: Edge = { source, target, on: 'success' }
              const bound = isEndless(draft.now, next) ? withBound(next, ROUNDS) : next
              // One that leads back needs a number: show where it is changed.
              if (connect(bound) && bound.max_visits) choose(bound)
            }}
            onMove={(places) => draft.set(withPlaces(draft.now, places))}
            onDelete={(nodes, edges) =>
              draft.set(nodes.reduce(withoutNode, edges.reduce(withoutEdge, draft.now)))
            }
          />
        )}
        <aside className="flow-panel">
          {chosen ? (
            <StepPanel
              key={chosen.id}
              workflowId={workflow.id}
              node={chosen}
              draft={draft.now}
              onChange={draft.set}
              onRemove={() => pick(null)}
              onEdge={choose}
              onNext={() => openPicker(chosen.id)}
              onName={(name) => nameStep(chosen.id, name)}
              onCopy={() => copyStep(chosen.id)}
            />
          ) : null}
          {chosenEdge ? (
            <EdgePanel
              edge={chosenEdge}
              draft={draft.now}
              onChange={(next, now) => {
                draft.set(next)
                setEdge(now)
              }}
            />
          ) : null}
          {!chosen && !chosenEdge ? (
            <Text size="sm" c="dimmed">
              {draft.now.nodes.length ? t.choose : t.empty}
            </Text>
          ) : null}
        </aside>
      </div>
      <StepPicker
        opened={adding === 'task'}
        tasks={tasks}
        workflows={workflows}
        onClose={() => setAdding(null)}
        onPick={addStep}
        onCreate={mayCreate ? () => setAdding('new') : undefined}
      />
      {adding === 'new' ? (
        <NewTaskDialog onClose={() => setAdding(null)} onCreated={addStep} />
      ) : null}
      <ConnectDialog
        opened={connecting}
        draft={draft.now}
        onClose={() => setConnecting(false)}
        onConnect={connect}
      />
    </Paper>
  )
}

function Tool({
  label,
  icon: Icon,
  disabled,
  onClick,
}: {
  label: string
  icon: typeof Undo2
  disabled: boolean
  onClick: () => void
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon aria-label={label} disabled={disabled} onClick={onClick}>
        <Icon size={16} />
      </ActionIcon>
    </Tooltip>
  )
}

interface RowMenuProps {
  onEdit: () => void
  onCopy: () => void
  onRemove: () => void
}

function RowMenu({ onEdit, onCopy, onRemove }: RowMenuProps) {
  const t = useText()
  const w = useWords()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="compact-xs" variant="default">
          {w.actions}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onEdit}>{w.edit}</Menu.Item>
        <Menu.Item onClick={onCopy}>{t.copyStep}</Menu.Item>
        <Menu.Item color="red" onClick={onRemove}>
          {t.removeStep}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
