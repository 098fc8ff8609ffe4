import { describe, expect, test } from '@jest/globals';
import { extract } from './packs.ts';

const risksOf = (code: string) =>
  extract({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}', 'other.py': code }).risks;

describe('the tags of a pack', () => {
  test.each([
    ['calls-eval', 'def f(x): return eval(x)'],
    ['calls-eval', 'import builtins\nbuiltins.eval("1")'],
    ['calls-exec', 'exec(open("a").read())'],
    ['calls-subprocess', 'import subprocess\nsubprocess.run(["ls"])'],
    ['calls-subprocess', 'import subprocess as sp\ndef f():\n    sp.Popen("ls")'],
    ['calls-subprocess', 'from subprocess import check_call as cc\ncc(["ls"])'],
    ['calls-subprocess', 'import asyncio\nasync def f(): await asyncio.create_subprocess_exec("ls")'],
    ['calls-subprocess', 'import importlib\nimportlib.import_module("subprocess").run("ls")'],
    ['calls-os-system', 'import os\nos.system("ls")'],
    ['calls-os-system', '__import__("os").popen("ls")'],
    ['calls-os-system', 'import os.path\nclass A:\n    def f(self): os.execvp("ls", [])'],
    ['loads-pickle', 'import pickle\npickle.load(open("a", "rb"))'],
    ['loads-pickle', 'from joblib import load\nload("a")'],
    ['loads-torch', 'import torch\ntorch.load("a.pt")'],
    ['loads-torch', 'import torch\ntorch.load("a.pt", weights_only=False)'],
    ['loads-native-code', 'import ctypes\nctypes.CDLL("a.so")'],
    ['uses-network', 'import requests\nrequests.get("https://example.com")'],
    ['uses-network', 'from urllib.request import urlopen\nurlopen("https://example.com")'],
    ['installs-packages', 'import pip\npip.main(["install", "x"])'],
    [
      'installs-packages',
      'import sys\ncommand = [sys.executable, "-m", "pip", "install", "-r", "requirements.txt"]',
    ],
  ])('include %s for %s', (risk, code) => {
    expect(risksOf(code)).toEqual([risk]);
  });

  test('returns several tags in the order of their catalog', () => {
    const code = 'import os, subprocess\nos.system(f"{x} -m pip install y")\nsubprocess.run(eval("a"))';

    expect(risksOf(code)).toEqual(['calls-eval', 'calls-subprocess', 'calls-os-system', 'installs-packages']);
  });

  test.each([
    ['a method of the same name', 'model.eval()\nself.exec()\nx.system("a")\nx.load("a")'],
    ['an own module of the same name', 'from .subprocess import run\nrun("a")'],
    ['weights only', 'import torch\ntorch.load("a.pt", weights_only=True)'],
    ['JSON', 'import json\njson.load(open("a"))'],
    ['words in text', 'x = "eval(exec(subprocess.run))"  # os.system()\nprint("please install pip")'],
    ['a name that is only passed on', 'import subprocess\nPIPE = subprocess.PIPE'],
    ['no Python', 'def ((('],
  ])('returns no tag for %s', (_, code) => {
    expect(risksOf(code)).toEqual([]);
  });

  test('finds tags in every file, even if the extraction failed', () => {
    const { status, risks } = extract({ '__init__.py': 'import os\nos.system("a")', 'a/b.py': 'eval("1")' });

    expect({ status, risks }).toEqual({ status: 'failed', risks: ['calls-eval', 'calls-os-system'] });
  });
});
