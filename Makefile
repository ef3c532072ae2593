# The developers' front door: every target calls something else and does nothing by itself.
# A machine without make: ./demo and ./test do all that is needed.
.PHONY: help all test check lint format size figures-linux figures-cortexm lockstep-twice demo clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1: /p' Makefile | while IFS= read -r line; do \
	    printf '  %-14s %s\n' "$${line%%: *}" "$${line#*: }"; done

all: ## build everything into build/dev
	cmake -S . -B build/dev -G Ninja
	cmake --build build/dev

test: ## build three ways, run all tests and the lint steps: ./test
	./test

check: ## the same without the sanitizer builds: ./test quick
	./test quick

lint: all ## layout, clang-tidy, cppcheck, borders between the parts
	tools/lint.py format build/dev
	tools/lint.py tidy build/dev
	tools/lint.py cppcheck build/dev
	tools/check_layers.py

format: ## bring the source into its layout
	git ls-files -z '*.c' '*.h' '*.inl' '*.cpp' '*.hpp' | xargs -0 clang-format -i

size: all ## code and data of the recorder as built for this machine
	size -t build/dev/recorder/libtare_recorder.a

figures-linux: all ## what an event costs on this machine, as one JSON object on the last line
	cost/figures/figures_linux.sh build/dev

figures-cortexm: all ## what an event costs on targets, counted; FREERTOS_KERNEL_PATH names a kernel (10 or later)
	cost/figures/figures_cortexm.sh build/dev

lockstep-twice: all ## two runs of the gateway on the emulated board, compared to the byte
	cost/rigs/qemu/lockstep_twice.sh build/dev

demo: ## build, run the gateway experiment, show the report: ./demo
	./demo

clean: ## remove build/
	rm -rf build
